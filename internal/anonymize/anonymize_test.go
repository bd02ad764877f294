package anonymize

import (
	"testing"

	"github.com/shoenig/test"
)

func TestReplace(t *testing.T) {
	n := New()
	for _, line := range []string{
		"gpu01.cluster.example.edu:100:200 [0] NCCL INFO Bootstrap : Using eth0:10.1.2.3<0>",
		"#  Rank  1 Group  0 Pid 100 on gpu10 device  1 [0x06] NVIDIA H100",
		`{"host":"gpu02","hosts":["login-a"],"env":{"SLURM_NODELIST":"rack[07-08],gpu01"}}`,
		"USER=alice /home/alice/run.sh",
	} {
		n.Learn(line)
	}
	for _, c := range [][2]string{
		{"gpu01:1:2 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/RoCE; OOB eth0:10.1.2.3<0>",
			"host1:1:2 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/RoCE; OOB eth0:198.18.0.3<0>"},
		{"10.1.2.9 and 10.1.3.9, 127.0.0.1, 255.255.255.0, 0.0.0.0",
			"198.18.0.9 and 198.18.1.9, 127.0.0.1, 255.255.255.0, 0.0.0.0"},
		{"GPU01.cluster.example.edu nccl.gpu10.77.log results_gpu02_1.jsonl gpu100 xgpu01",
			"host1 nccl.host2.77.log results_host3_1.jsonl gpu100 xgpu01"},
		{`{"gpu02":1,"host":"gpu02","list":"rack[07-08]","other":"mlx5[0-1]"}`,
			`{"gpu02":1,"host":"host3","list":"host5,host6","other":"mlx5[0-1]"}`},
		{"/home/alice/x /scratch/alice/y USER=alice the word alice stays",
			"/home/user1/x /scratch/user1/y USER=user1 the word alice stays"},
		{"fe80::e42:a1ff:fe7d:1 ::ffff:10.1.2.3 at 0000:0d:00.0, std::vector 12:34:56 a:b:c",
			"fe80::1 ::ffff:198.18.0.3 at 0000:0d:00.0, std::vector 12:34:56 a:b:c"},
		{"fd00:1:2::5 0c:42:a1:7d:00:01 NCCL 2.27.7 comm 0x55d9607ee240 rank 1 nranks 2 [0x61] fd00:1:2::5",
			"2001:db8::3 02:00:00:00:00:02 NCCL 2.27.7 comm 0x55d9607ee240 rank 1 nranks 2 [0x61] 2001:db8::3"},
		{"all_reduce root 0 float32", "all_reduce root 0 float32"},
	} {
		test.EqOp(t, c[1], n.Replace(c[0]), test.Sprint(c[0]))
	}
}
