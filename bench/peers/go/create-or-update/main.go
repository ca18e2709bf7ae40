// A typical operator on controller-runtime: CreateOrUpdate for each object.
package main

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"operator-builder/bench/peers/go/fleet"
)

type reconciler struct{ client.Client }

func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	ship := &fleet.Ship{}
	if err := r.Get(ctx, request.NamespacedName, ship); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if ship.DeletionTimestamp != nil {
		return ctrl.Result{}, nil
	}
	labels := fleet.Labels(ship)
	meta := metav1.ObjectMeta{Name: ship.Name, Namespace: ship.Namespace}
	configMap := &corev1.ConfigMap{ObjectMeta: meta}
	service := &corev1.Service{ObjectMeta: meta}
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: ship.Name + "-data", Namespace: ship.Namespace}}
	statefulSet := &appsv1.StatefulSet{ObjectMeta: meta}
	steps := []struct {
		object client.Object
		change func()
	}{
		{configMap, func() { configMap.Data = ship.Spec.Settings }},
		{service, func() {
			service.Spec.Ports = fleet.ServiceSpec().Ports
			service.Spec.Selector = labels
		}},
		{claim, func() {
			if claim.CreationTimestamp.IsZero() {
				claim.Spec = fleet.ClaimSpec()
			}
		}},
		{statefulSet, func() { r.change(statefulSet, ship) }},
	}
	for _, step := range steps {
		_, err := controllerutil.CreateOrUpdate(ctx, r.Client, step.object, func() error {
			step.object.SetLabels(labels)
			step.change()
			return controllerutil.SetControllerReference(ship, step.object, r.Scheme())
		})
		if err != nil {
			return ctrl.Result{}, err
		}
	}
	return ctrl.Result{}, nil
}

// Keeps the fields that the server defaults; otherwise each reconcile would write.
func (r *reconciler) change(statefulSet *appsv1.StatefulSet, ship *fleet.Ship) {
	labels := fleet.Labels(ship)
	pod := fleet.PodSpec(ship)
	spec := &statefulSet.Spec
	spec.Replicas = &ship.Spec.Replicas
	spec.ServiceName = ship.Name
	if spec.Selector == nil {
		spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
	}
	spec.Template.Labels = labels
	if len(spec.Template.Spec.Containers) != 1 {
		spec.Template.Spec = pod
		return
	}
	container, wanted := &spec.Template.Spec.Containers[0], pod.Containers[0]
	container.Image, container.Ports, container.EnvFrom = wanted.Image, wanted.Ports, wanted.EnvFrom
	container.Env, container.Resources, container.VolumeMounts = wanted.Env, wanted.Resources, wanted.VolumeMounts
	spec.Template.Spec.Volumes = pod.Volumes
}

func main() {
	manager, workers := fleet.NewManager()
	err := fleet.Owned(ctrl.NewControllerManagedBy(manager)).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers}).
		Complete(&reconciler{manager.GetClient()})
	if err != nil {
		fleet.Fail(err)
	}
	fleet.Run(manager)
}
