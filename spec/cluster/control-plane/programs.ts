/** Programs of a control plane, in starting order. */
export const programs = [
  'etcd',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'kwok',
] as const;

/** A program of the control plane. */
export type Program = (typeof programs)[number];

/** Kubernetes version of go.mod; the server reports it at `/version`. */
export const kubernetesVersion = '1.36.3';

/** Programs built from one go.mod. */
export interface GoModule {
  /** Folder of the go.mod, relative to this file's. */
  readonly folder: string;
  /** Go package of each program. */
  readonly packages: Readonly<Partial<Record<Program, string>>>;
  /** Variables for the linker to set. */
  readonly variables: Readonly<Record<string, string>>;
}

/** Modules to build. kwok pins other versions of client-go and hence has its own go.mod. */
export const goModules: readonly GoModule[] = [
  {
    folder: '.',
    packages: {
      etcd: 'go.etcd.io/etcd/server/v3',
      'kube-apiserver': 'k8s.io/kubernetes/cmd/kube-apiserver',
      'kube-controller-manager': 'k8s.io/kubernetes/cmd/kube-controller-manager',
      'kube-scheduler': 'k8s.io/kubernetes/cmd/kube-scheduler',
    },
    variables: {
      'k8s.io/component-base/version.gitVersion': `v${kubernetesVersion}`,
      'k8s.io/component-base/version.gitMajor': '1',
      'k8s.io/component-base/version.gitMinor': '36',
    },
  },
  { folder: 'kwok', packages: { kwok: 'sigs.k8s.io/kwok/cmd/kwok' }, variables: {} },
];

/** Module whose folder contains {@link kwokStages} and {@link kwokStorageClass}. */
export const kwokModule = 'sigs.k8s.io/kwok';

/** Simulated behaviour, as files below `kustomize/stage/` of kwok's module. */
export const kwokStages: readonly string[] = [
  'node/fast/node-initialize.yaml',
  'node/heartbeat-with-lease/node-heartbeat-with-lease.yaml',
  'pod/fast/pod-ready.yaml',
  'pod/fast/pod-complete.yaml',
  'pod/fast/pod-delete.yaml',
  'volume/fast/pv-bind.yaml',
  'volume/fast/pv-delete.yaml',
  'volume/fast/pvc-delete.yaml',
];

/** Default StorageClass, so that claims without a class are bound too. */
export const kwokStorageClass = 'volume/fast/storage-class.yaml';
