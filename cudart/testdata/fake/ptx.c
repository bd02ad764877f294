/* An interpreter of the few PTX instructions that busbar's kernels use. It rejects uninitialised registers and
 * addresses outside of device memory. */
#include "fake.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NONE, WIDE, NARROW, PREDICATE, NUMBER, NAME, TID, NTID, CTAID, NCTAID };
struct operand { int kind; uint64_t value; char name[32]; };

enum op { LD_PARAM, CVTA, MOV, MUL_WIDE, CVT, ADD, SUB, REM, AND, XOR, SHL, MAX, MIN, SETP_GE, SETP_GT, SETP_LT, SETP_EQ, SETP_NE,
	  SETP_NE32, LD_PAIR, ST_PAIR, LD_BYTE, LD_2, LD_4, LD_8, ST_BYTE, RED_MIN, BRA, RET };
static const char *const mnemonics[] = {
	"ld.param.u64", "cvta.to.global.u64", "mov.u32", "mul.wide.u32", "cvt.u64.u32", "add.u64", "sub.u64", "rem.u64",
	"and.b64", "xor.b64", "shl.b64", "max.u64", "min.u64", "setp.ge.u64", "setp.gt.u64", "setp.lt.u64", "setp.eq.u64", "setp.ne.u64",
	"setp.ne.u32", "ld.global.v2.u64", "st.global.v2.u64", "ld.global.u8", "ld.global.u16", "ld.global.u32",
	"ld.global.u64", "st.global.u8", "red.global.min.u64", "bra", "ret",
};

struct instruction { int op, guard, inverted; struct operand o[3]; };
struct label { char name[32]; int at; };

struct kernel {
	char name[32], parameters[10][32];
	int parameter_count, count, label_count;
	struct instruction code[128];
	struct label labels[16];
};

struct ptx { struct kernel kernels[4]; int count; };

static char *trim(char *s)
{
	while (isspace((unsigned char)*s))
		s++;
	char *end = s + strlen(s);
	while (end > s && isspace((unsigned char)end[-1]))
		*--end = 0;
	return s;
}

static struct operand operand(const char *s)
{
	struct operand o = { NONE, 0, "" };
	static const struct { const char *name; int kind; } special[] = {
		{ "%tid.x", TID }, { "%ntid.x", NTID }, { "%ctaid.x", CTAID }, { "%nctaid.x", NCTAID } };
	for (size_t i = 0; i < sizeof special / sizeof *special; i++)
		if (!strcmp(s, special[i].name)) {
			o.kind = special[i].kind;
			return o;
		}
	if (!strncmp(s, "%rd", 3))
		o.kind = WIDE, o.value = strtoull(s + 3, NULL, 10);
	else if (!strncmp(s, "%r", 2))
		o.kind = NARROW, o.value = strtoull(s + 2, NULL, 10);
	else if (!strncmp(s, "%p", 2))
		o.kind = PREDICATE, o.value = strtoull(s + 2, NULL, 10);
	else if (isdigit((unsigned char)*s))
		o.kind = NUMBER, o.value = strtoull(s, NULL, 0);
	else
		o.kind = NAME, snprintf(o.name, sizeof o.name, "%s", s);
	return o;
}

static int instruction(struct kernel *k, char *s)
{
	struct instruction *in = &k->code[k->count];
	memset(in, 0, sizeof *in);
	in->guard = -1;
	if (*s == '@') {
		in->inverted = s[1] == '!';
		in->guard = atoi(strstr(s, "%p") + 2);
		s = trim(strchr(s, ' '));
	}
	char *semicolon = strchr(s, ';');
	if (!semicolon || k->count == 127)
		return 0;
	*semicolon = 0;
	char *rest = s + strcspn(s, " ");
	if (*rest)
		*rest++ = 0;
	for (in->op = 0; in->op < (int)(sizeof mnemonics / sizeof *mnemonics); in->op++)
		if (!strcmp(s, mnemonics[in->op]))
			break;
	if (in->op > RET)
		return 0;
	/* Pairs and addresses are plain operands; [a] of a word is never a + b. */
	for (char *c = rest; *c; c++)
		if (strchr("[]{}", *c))
			*c = ' ';
	int n = 0;
	struct operand all[4];
	for (char *c = strtok(rest, ","); c && n < 4; c = strtok(NULL, ","))
		all[n++] = operand(trim(c));
	memcpy(in->o, all, sizeof in->o);
	k->count++;
	return n <= 3;
}

struct ptx *ptx_parse(const char *text)
{
	struct ptx *p = calloc(1, sizeof *p);
	struct kernel *k = NULL;
	char *copy = strdup(text), *next = copy;
	for (char *line; (line = strsep(&next, "\n"));) {
		char *comment = strstr(line, "//");
		if (comment)
			*comment = 0;
		line = trim(line);
		char *entry = strstr(line, ".entry ");
		if (entry) {
			k = &p->kernels[p->count++];
			sscanf(entry, ".entry %31[a-z_]", k->name);
		} else if (k && !strncmp(line, ".param .u64 ", 12)) {
			sscanf(line, ".param .u64 %31[a-z_]", k->parameters[k->parameter_count++]);
		} else if (k && *line && line[strlen(line) - 1] == ':') {
			line[strlen(line) - 1] = 0;
			k->labels[k->label_count].at = k->count;
			snprintf(k->labels[k->label_count++].name, 32, "%s", line);
		} else if (k && *line && !strchr(".{})", *line) && !instruction(k, line)) {
			fprintf(stderr, "fake driver: PTX not understood: %s\n", line);
			free(copy);
			free(p);
			return NULL;
		}
	}
	free(copy);
	return p;
}

void ptx_free(struct ptx *p) { free(p); }
int ptx_parameters(const struct kernel *k) { return k->parameter_count; }
const char *ptx_name(const struct kernel *k) { return k->name; }

struct kernel *ptx_kernel(struct ptx *p, const char *name)
{
	for (int i = 0; i < p->count; i++)
		if (!strcmp(p->kernels[i].name, name))
			return &p->kernels[i];
	return NULL;
}

struct thread {
	uint64_t wide[32];
	uint32_t narrow[8], special[4]; /* tid, ntid, ctaid, nctaid */
	int predicate[4];
	uint32_t wide_set, narrow_set, predicate_set;
	int fault;
};

static uint64_t get(struct thread *t, const struct operand *o)
{
	int set = 1;
	uint64_t v = 0;
	switch (o->kind) {
	case WIDE: v = t->wide[o->value]; set = t->wide_set >> o->value & 1; break;
	case NARROW: v = t->narrow[o->value]; set = t->narrow_set >> o->value & 1; break;
	case PREDICATE: v = (uint64_t)t->predicate[o->value]; set = t->predicate_set >> o->value & 1; break;
	case NUMBER: v = o->value; break;
	case TID: case NTID: case CTAID: case NCTAID: v = t->special[o->kind - TID]; break;
	default: set = 0;
	}
	if (!set)
		t->fault = 1;
	return v;
}

static void put(struct thread *t, const struct operand *o, uint64_t v)
{
	switch (o->kind) {
	case WIDE: t->wide[o->value] = v; t->wide_set |= 1u << o->value; break;
	case NARROW: t->narrow[o->value] = (uint32_t)v; t->narrow_set |= 1u << o->value; break;
	case PREDICATE: t->predicate[o->value] = (int)v; t->predicate_set |= 1u << o->value; break;
	default: t->fault = 1;
	}
}

static unsigned char *memory(struct thread *t, const struct operand *o, uint64_t n)
{
	static _Alignas(16) unsigned char nowhere[16];
	uint64_t address = get(t, o);
	if (address % n || !reachable(address, n)) {
		t->fault = 1;
		return nowhere;
	}
	return (unsigned char *)address;
}

static int find(const struct kernel *k, const char *name)
{
	for (int i = 0; i < k->label_count; i++)
		if (!strcmp(k->labels[i].name, name))
			return k->labels[i].at;
	return -1;
}

static uint64_t parameter(const struct kernel *k, const char *name, void **values)
{
	for (int i = 0; i < k->parameter_count; i++)
		if (!strcmp(k->parameters[i], name))
			return *(uint64_t *)values[i];
	return 0;
}

static void step(struct thread *t, const struct kernel *k, const struct instruction *in, void **values)
{
	const struct operand *o = in->o;
	unsigned char *p;
#define A get(t, &o[1])
#define B get(t, &o[2])
	switch ((enum op)in->op) {
	case LD_PARAM: put(t, o, parameter(k, o[1].name, values)); break;
	case CVTA: case MOV: case CVT: put(t, o, A); break;
	case MUL_WIDE: put(t, o, (uint64_t)(uint32_t)A * (uint32_t)B); break;
	case ADD: put(t, o, A + B); break;
	case SUB: put(t, o, A - B); break;
	case REM: put(t, o, A % B); break;
	case AND: put(t, o, A & B); break;
	case XOR: put(t, o, A ^ B); break;
	case SHL: put(t, o, A << B); break;
	case MAX: put(t, o, A > B ? A : B); break;
	case MIN: put(t, o, A < B ? A : B); break;
	case SETP_GE: put(t, o, A >= B); break;
	case SETP_GT: put(t, o, A > B); break;
	case SETP_LT: put(t, o, A < B); break;
	case SETP_EQ: put(t, o, A == B); break;
	case SETP_NE: case SETP_NE32: put(t, o, A != B); break;
	case LD_PAIR:
		p = memory(t, &o[2], 16);
		put(t, &o[0], *(uint64_t *)p);
		put(t, &o[1], *(uint64_t *)(p + 8));
		break;
	case ST_PAIR:
		p = memory(t, &o[0], 16);
		*(uint64_t *)p = get(t, &o[1]);
		*(uint64_t *)(p + 8) = get(t, &o[2]);
		break;
	case LD_BYTE: put(t, o, *memory(t, &o[1], 1)); break;
	case LD_2: put(t, o, *(uint16_t *)memory(t, &o[1], 2)); break;
	case LD_4: put(t, o, *(uint32_t *)memory(t, &o[1], 4)); break;
	case LD_8: put(t, o, *(uint64_t *)memory(t, &o[1], 8)); break;
	case ST_BYTE: *memory(t, &o[0], 1) = (unsigned char)get(t, &o[1]); break;
	case RED_MIN:
		p = memory(t, &o[0], 8);
		if (get(t, &o[1]) < *(uint64_t *)p)
			*(uint64_t *)p = get(t, &o[1]);
		break;
	case BRA: case RET: break;
	}
}

int ptx_run(struct kernel *k, unsigned blocks, unsigned threads, void **values)
{
	for (uint64_t n = 0; n < (uint64_t)blocks * threads; n++) {
		struct thread t = { .special = { (uint32_t)(n % threads), threads, (uint32_t)(n / threads), blocks } };
		for (int at = 0; at < k->count;) {
			const struct instruction *in = &k->code[at++];
			if (in->guard >= 0) {
				struct operand guard = { PREDICATE, (uint64_t)in->guard, "" };
				if ((get(&t, &guard) != 0) == in->inverted)
					continue;
			}
			if (in->op == RET)
				break;
			if (in->op == BRA)
				at = find(k, in->o[0].name);
			else
				step(&t, k, in, values);
			if (t.fault || at < 0) {
				fprintf(stderr, "fake driver: %s, thread %llu: fault at instruction %d\n", k->name, (unsigned long long)n, at - 1);
				return 700;
			}
		}
	}
	return 0;
}
