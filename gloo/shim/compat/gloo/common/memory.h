/* Debian's libgloo-dev lacks this header, which is required to derive from Gloo's transport. This one declares the
 * three pointers, with only the functions that the shim needs. Its folder is last in the search path, so Gloo's own
 * header wins if present. */
#pragma once

#include <memory>

#include <gloo/config.h>

#if GLOO_VERSION != 500
#error "gloo/common/memory.h is missing, and busbar replaces it for Gloo 0.5.0 only: install Gloo with all its headers"
#endif

namespace gloo {

/* Members of the object itself. */
template <class T> class ShareableNonOwningPtr final {
public:
	std::weak_ptr<T> weak() const { return held_; }

private:
	std::shared_ptr<T> held_;
};

/* A weak pointer to an object that its user owns. */
template <class T> class WeakNonOwningPtr final {
public:
	WeakNonOwningPtr() = default;
	explicit WeakNonOwningPtr(const ShareableNonOwningPtr<T> &p) : held_(p.weak()) {}
	std::shared_ptr<T> lock() const { return held_.lock(); }

private:
	std::weak_ptr<T> held_;
};

/* While it holds the object, the owner's destructor waits. */
template <class T> class NonOwningPtr final {
public:
	explicit NonOwningPtr(const WeakNonOwningPtr<T> &p) : held_(p.lock()) {}
	T *operator->() const { return held_.get(); }
	explicit operator bool() const { return held_ != nullptr; }

private:
	std::shared_ptr<T> held_;
};

} // namespace gloo
