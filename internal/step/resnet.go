package step

import (
	"errors"
	"fmt"
)

// The computing of a preset, in seconds: round figures, about what a GPU takes for a batch that fills it. The backward
// pass of a layer multiplies twice for each multiplication of the forward pass: for the gradient of its input and of
// its weights.
const (
	presetForward  = 0.1 / 3
	presetBackward = 0.2 / 3
)

// batchNormWeight is how many multiply-adds of a convolution take as long as one output of a batch norm and its
// activation, which wait for memory and not for arithmetic: with it they are a fifth of the step. It is chosen.
const batchNormWeight = 100

// resnet is a ResNet that is being put together, from its input on.
type resnet struct {
	Model
	forward, backward []float64 // weights of computing, in multiply-adds
	channels, side    int64     // of the image so far
}

// resnet50 is the network of "Deep Residual Learning for Image Recognition" (He et al., 2015) for images of 224 by 224
// and 1000 classes, with the stride of a block in its 3x3 convolution; parameters are named and ordered as in
// torchvision.
func resnet50(size string) (*Model, error) {
	if size != "" {
		return nil, errors.New("resnet50 has one size; write it without a colon")
	}
	r := resnet{channels: 3, side: 224}
	r.Name = "resnet50"
	r.About = "layer shapes are the public ones; forward and backward take 100 ms together, which is chosen, a third " +
		"of " +
		"it forward; divided over layers by multiply-adds, a batch norm's output counting as 100"
	r.convolution("conv1", "bn1", 64, 7, 2)
	r.side /= 2 // the maximum of 3x3, stride 2
	for stage, blocks := range []int{3, 4, 6, 3} {
		for block := range blocks {
			stride := int64(1)
			if block == 0 && stage > 0 {
				stride = 2
			}
			r.bottleneck(fmt.Sprintf("layer%d.%d.", stage+1, block), 64<<stage, stride, block == 0)
		}
	}
	r.add("fc.weight", 1000, r.channels, 1000*r.channels, 0)
	r.add("fc.bias", 1000, 0, 0, 1000*r.channels)
	r.divide(presetForward, presetBackward, r.forward, r.backward)
	return &r.Model, nil
}

// bottleneck adds three convolutions, and one beside them where the shape of what they are added to changes.
func (r *resnet) bottleneck(name string, width, stride int64, projected bool) {
	channels, side := r.channels, r.side
	r.convolution(name+"conv1", name+"bn1", width, 1, 1)
	r.convolution(name+"conv2", name+"bn2", width, 3, stride)
	r.convolution(name+"conv3", name+"bn3", 4*width, 1, 1)
	if projected {
		r.channels, r.side = channels, side
		r.convolution(name+"downsample.0", name+"downsample.1", 4*width, 1, stride)
	}
}

// convolution adds one with its batch norm.
func (r *resnet) convolution(name, norm string, channels, kernel, stride int64) {
	columns := r.channels * kernel * kernel
	r.channels, r.side = channels, r.side/stride
	outputs := channels * r.side * r.side
	r.add(name+".weight", channels, columns, outputs*columns, outputs*columns)
	r.add(norm+".weight", channels, 0, outputs*batchNormWeight, 0)
	r.add(norm+".bias", channels, 0, 0, outputs*batchNormWeight)
}

// add adds a tensor. Of the two tensors of one module, which become ready together, the first has its forward weight
// and the second, with which the backward pass begins, its backward weight.
func (r *resnet) add(name string, rows, columns, forward, backward int64) {
	r.Layers = append(r.Layers, Layer{Name: name, Params: rows * max(columns, 1)})
	r.forward = append(r.forward, float64(forward))
	r.backward = append(r.backward, float64(backward))
}
