// Command replicas reads the YAML for Kubernetes in a page of the manual as Kubernetes does, refuses unknown fields, and runs
// the containers' commands and the probe with the program.
//
//	go run . PAGE PROGRAM
package main

import (
	"bytes"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 3 {
		log.Fatal("usage: replicas PAGE PROGRAM")
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		log.Fatal(err)
	}
	fmt.Println("kubernetes: the YAML is understood, and its pod becomes ready")
}

func run(page, program string) error {
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	block := regexp.MustCompile("(?s)```yaml\n(apiVersion.*?)```").FindSubmatch(text)
	if block == nil {
		return errors.New(page + " has no YAML for Kubernetes")
	}
	first, second, _ := strings.Cut(string(block[1]), "---\n")
	var (
		deployment apps.Deployment
		service    core.Service
	)
	if err := errors.Join(yaml.UnmarshalStrict([]byte(first), &deployment), yaml.UnmarshalStrict([]byte(second), &service)); err != nil {
		return err
	}
	if deployment.APIVersion != "apps/v1" || deployment.Kind != "Deployment" || service.APIVersion != "v1" || service.Kind != "Service" {
		return fmt.Errorf("%s %s, %s %s", deployment.APIVersion, deployment.Kind, service.APIVersion, service.Kind)
	}
	pod := deployment.Spec.Template
	for _, selector := range []map[string]string{deployment.Spec.Selector.MatchLabels, service.Spec.Selector} {
		for key, value := range selector {
			if pod.Labels[key] != value {
				return fmt.Errorf("no pod has %s: %s", key, value)
			}
		}
	}
	return ready(pod.Spec, service.Spec.Ports[0].TargetPort.IntVal, program)
}

// ready runs the containers on this machine, until the probe is answered.
func ready(pod core.PodSpec, port int32, program string) (err error) {
	volume, err := os.MkdirTemp("", "snowglobe-pod-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(volume)
	const address = "127.0.0.1:19754"
	var said bytes.Buffer
	command := func(c core.Container) *exec.Cmd {
		args := slices.Clone(c.Command)
		for i := range args {
			for _, mount := range c.VolumeMounts {
				args[i] = strings.Replace(args[i], mount.MountPath, volume, 1)
			}
			args[i] = strings.Replace(args[i], fmt.Sprintf("0.0.0.0:%d", port), address, 1)
		}
		run := exec.Command(program, args[1:]...)
		run.Stderr = &said
		return run
	}
	for _, c := range slices.Concat(pod.InitContainers, pod.Containers) {
		if c.Command[0] != "/snowglobe" || len(c.VolumeMounts) != 1 || c.VolumeMounts[0].Name != pod.Volumes[0].Name {
			return fmt.Errorf("container %s: %v", c.Name, c.Command)
		}
	}
	for range 2 { // Kubernetes may run it again, with what it wrote before still there
		if err := command(pod.InitContainers[0]).Run(); err != nil {
			return fmt.Errorf("%w: %s", err, said.Bytes())
		}
	}
	server, probe := command(pod.Containers[0]), pod.Containers[0].ReadinessProbe.HTTPGet
	if probe.Port.IntVal != port || pod.Containers[0].Ports[0].ContainerPort != port {
		return fmt.Errorf("the service's port is %d, not the container's", port)
	}
	if err := server.Start(); err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, server.Process.Signal(syscall.SIGTERM), server.Wait())
		if err != nil {
			err = fmt.Errorf("%w: %s", err, said.Bytes())
		}
	}()
	for range 300 {
		if answer, err := http.Get("http://" + address + probe.Path); err == nil {
			answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return nil
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
	return errors.New("the pod does not become ready")
}
