// An operator on the original operator-runtime v0.0.7, written as its README shows.
package main

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/record"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"

	"github.com/datainfrahq/operator-runtime/builder"

	"operator-builder/bench/peers/go/fleet"
)

type reconciler struct {
	client.Client
	recorder record.EventRecorder
}

func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	ship := &fleet.Ship{}
	if err := r.Get(ctx, request.NamespacedName, ship); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if ship.DeletionTimestamp != nil {
		return ctrl.Result{}, nil
	}
	labels := fleet.Labels(ship)
	owner := *metav1.NewControllerRef(ship, fleet.GroupVersion.WithKind("Ship"))
	common := func(name string) builder.CommonBuilder {
		return builder.CommonBuilder{
			ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: ship.Namespace, Labels: labels},
			Client:     r.Client,
			CrObject:   ship,
			OwnerRef:   owner,
		}
	}
	claim, service, pod := fleet.ClaimSpec(), fleet.ServiceSpec(), fleet.PodSpec(ship)
	build := builder.NewBuilder(
		builder.ToNewBuilderContext(builder.BuilderContext{Context: ctx}),
		builder.ToNewBuilderRecorder(builder.BuilderRecorder{Recorder: r.recorder, ControllerName: "Ship"}),
		builder.ToNewBuilderStore(*builder.NewStore(r.Client, labels, ship.Namespace, ship)),
		builder.ToNewBuilderConfigMap([]builder.BuilderConfigMap{{Data: ship.Spec.Settings, CommonBuilder: common(ship.Name)}}),
		builder.ToNewBuilderStorageConfig([]builder.BuilderStorageConfig{{PvcSpec: &claim, CommonBuilder: common(ship.Name + "-data")}}),
		builder.ToNewBuilderService([]builder.BuilderService{{ServiceSpec: &service, SelectorLabels: labels, CommonBuilder: common(ship.Name)}}),
		builder.ToNewBuilderDeploymentStatefulSet([]builder.BuilderDeploymentStatefulSet{{
			Replicas: ship.Spec.Replicas, Labels: labels, ServiceName: ship.Name, PodSpec: &pod,
			Kind: "Statefulset", CommonBuilder: common(ship.Name),
		}}),
	)
	if _, err := build.ReconcileConfigMap(); err != nil {
		return ctrl.Result{}, err
	}
	if _, err := build.ReconcileStorage(); err != nil {
		return ctrl.Result{}, err
	}
	if _, err := build.ReconcileService(); err != nil {
		return ctrl.Result{}, err
	}
	if _, err := build.ReconcileDeployOrSts(); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, build.ReconcileStore()
}

func main() {
	manager, workers := fleet.NewManager()
	err := fleet.Owned(ctrl.NewControllerManagedBy(manager)).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers}).
		Complete(&reconciler{manager.GetClient(), manager.GetEventRecorderFor("ship")})
	if err != nil {
		fleet.Fail(err)
	}
	fleet.Run(manager)
}
