package apiserver

import (
	"context"
	"errors"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

type object = map[string]any

func TestServer(t *testing.T) {
	ctx := t.Context()
	server, err := Start("--workloads", "--virtual-clock")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := server.Stop(); err != nil {
			t.Errorf("Stop: %v", err)
		}
	}()
	config, err := clientcmd.BuildConfigFromFlags("", server.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	client := kubernetes.NewForConfigOrDie(config)
	deployments := client.AppsV1().Deployments("default")
	call := func(method, path string, in, out any) {
		t.Helper()
		if err := server.Call(ctx, method, path, in, out); err != nil {
			t.Fatalf("%s %s: %v", method, path, err)
		}
	}
	ready := func() int32 {
		t.Helper()
		call("POST", "/settle", nil, nil)
		live, err := deployments.Get(ctx, "web", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return live.Status.ReadyReplicas
	}

	t.Run("a fault fails the create, and the next try succeeds", func(t *testing.T) {
		rule := object{"match": object{"verb": "create"}, "effect": object{"type": "status", "code": 503}, "times": 1}
		call("POST", "/faults", rule, nil)
		_, err := deployments.Create(ctx, deployment(), metav1.CreateOptions{})
		if !apierrors.IsServiceUnavailable(err) {
			t.Fatalf("want 503, got %v", err)
		}
		if _, err := deployments.Create(ctx, deployment(), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	})

	t.Run("pods crash by a rule, and recover without it", func(t *testing.T) {
		if got := ready(); got != 2 {
			t.Fatalf("want 2 ready replicas, got %d", got)
		}
		call("POST", "/pod-rules", object{"behavior": "crashLoop"}, nil)
		if got := ready(); got != 0 {
			t.Fatalf("want no ready replica, got %d", got)
		}
		call("DELETE", "/pod-rules", nil, nil)
		if got := ready(); got != 2 {
			t.Fatalf("want 2 ready replicas again, got %d", got)
		}
	})

	t.Run("a snapshot brings a deleted object back", func(t *testing.T) {
		var snapshot struct{ ID string }
		call("POST", "/snapshots", nil, &snapshot)
		if err := deployments.Delete(ctx, "web", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		call("POST", "/snapshots/"+snapshot.ID+"/restore", nil, nil)
		if got := ready(); got != 2 {
			t.Fatalf("want 2 ready replicas, got %d", got)
		}
	})

	t.Run("the request log counts the writes of the client", func(t *testing.T) {
		var log struct{ ByVerbAndResource map[string]int }
		call("GET", "/requests", nil, &log)
		if got := log.ByVerbAndResource["create deployments"]; got != 2 {
			t.Fatalf("want 2 creates, got %d", got)
		}
	})

	t.Run("a refusal is a Status", func(t *testing.T) {
		err := server.Call(context.Background(), "POST", "/faults", object{}, nil)
		var status *Status
		if !errors.As(err, &status) || status.Reason != "InvalidOption" {
			t.Fatalf("want a Status with the reason InvalidOption, got %v", err)
		}
	})
}

func deployment() *appsv1.Deployment {
	labels := map[string]string{"app": "web"}
	replicas := int32(2)
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "web:1"}}},
			},
		},
	}
}
