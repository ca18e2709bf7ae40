// Package fleet defines the custom resource of the fleet bench, and the objects that each operator creates for one.
package fleet

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"os"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"go.uber.org/zap/zapcore"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// GroupVersion of the custom resource.
var GroupVersion = schema.GroupVersion{Group: "bench.example.com", Version: "v1"}

// ShipSpec is the desired state of a Ship.
type ShipSpec struct {
	Replicas int32             `json:"replicas"`
	Settings map[string]string `json:"settings"`
	Note     string            `json:"note,omitempty"`
}

// Ship is the custom resource.
type Ship struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              ShipSpec `json:"spec"`
}

// DeepCopyObject implements runtime.Object.
func (s *Ship) DeepCopyObject() runtime.Object {
	copied := *s
	copied.ObjectMeta = *s.ObjectMeta.DeepCopy()
	copied.Spec.Settings = make(map[string]string, len(s.Spec.Settings))
	for key, value := range s.Spec.Settings {
		copied.Spec.Settings[key] = value
	}
	return &copied
}

// ShipList is a list of Ships.
type ShipList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Ship `json:"items"`
}

// DeepCopyObject implements runtime.Object.
func (l *ShipList) DeepCopyObject() runtime.Object {
	copied := *l
	copied.Items = make([]Ship, len(l.Items))
	for i := range l.Items {
		copied.Items[i] = *l.Items[i].DeepCopyObject().(*Ship)
	}
	return &copied
}

// Labels returns the labels of every object of a Ship.
func Labels(ship *Ship) map[string]string {
	return map[string]string{"app.kubernetes.io/instance": ship.Name, "custom_resource": ship.Name}
}

// ServiceSpec returns the spec of the Service, without its selector.
func ServiceSpec() corev1.ServiceSpec {
	return corev1.ServiceSpec{Ports: []corev1.ServicePort{{Name: "http", Port: 80, Protocol: corev1.ProtocolTCP, TargetPort: intstr.FromInt32(8080)}}}
}

// ClaimSpec returns the spec of the PersistentVolumeClaim.
func ClaimSpec() corev1.PersistentVolumeClaimSpec {
	return corev1.PersistentVolumeClaimSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
	}
}

// PodSpec returns the pod spec of the StatefulSet; it contains a hash of the settings, so that changes roll the pods.
func PodSpec(ship *Ship) corev1.PodSpec {
	return corev1.PodSpec{
		Containers: []corev1.Container{{
			Name:    "app",
			Image:   "nginx:1.27",
			Ports:   []corev1.ContainerPort{{Name: "http", ContainerPort: 8080, Protocol: corev1.ProtocolTCP}},
			EnvFrom: []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: ship.Name}}}},
			Env:     []corev1.EnvVar{{Name: "CONFIGMAP_HASH", Value: hash(ship.Spec.Settings)}},
			Resources: corev1.ResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("10m"), corev1.ResourceMemory: resource.MustParse("16Mi")},
			},
			VolumeMounts: []corev1.VolumeMount{{Name: "data", MountPath: "/data"}},
		}},
		Volumes: []corev1.Volume{{
			Name:         "data",
			VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: ship.Name + "-data"}},
		}},
	}
}

func hash(settings map[string]string) string {
	// Go's JSON sorts the keys of maps.
	text, _ := json.Marshal(settings)
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// NewManager returns a manager of one namespace without client-side rate limits, and the number of workers. The
// flag --elect enables leader election.
func NewManager() (ctrl.Manager, int) {
	namespace := flag.String("namespace", "default", "the namespace to watch")
	workers := flag.Int("workers", 8, "reconciles at a time")
	elect := flag.Bool("elect", false, "elect a leader")
	config := ctrl.GetConfigOrDie()
	flag.Parse()
	ctrl.SetLogger(zap.New(zap.Level(zapcore.ErrorLevel)))
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		Fail(err)
	}
	scheme.AddKnownTypes(GroupVersion, &Ship{}, &ShipList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	config.QPS = -1
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:                        scheme,
		Cache:                         cache.Options{DefaultNamespaces: map[string]cache.Config{*namespace: {}}},
		Metrics:                       metricsserver.Options{BindAddress: "0"},
		LeaderElection:                *elect,
		LeaderElectionID:              "bench",
		LeaderElectionNamespace:       *namespace,
		LeaderElectionReleaseOnCancel: true,
	})
	if err != nil {
		Fail(err)
	}
	return manager, *workers
}

// Run runs the manager until a signal.
func Run(manager ctrl.Manager) {
	if err := manager.Start(ctrl.SetupSignalHandler()); err != nil {
		Fail(err)
	}
}

// Owned makes the builder watch Ships and the kinds that they own.
func Owned(builder *ctrl.Builder) *ctrl.Builder {
	return builder.For(&Ship{}).Owns(&corev1.ConfigMap{}).Owns(&corev1.Service{}).Owns(&appsv1.StatefulSet{}).Owns(&corev1.PersistentVolumeClaim{})
}

// Fail prints the error and exits with an error code.
func Fail(err error) {
	_, _ = os.Stderr.WriteString(err.Error() + "\n")
	os.Exit(1)
}
