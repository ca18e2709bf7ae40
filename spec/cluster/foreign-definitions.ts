import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { go } from './control-plane/go.js';

/** Folders of CustomResourceDefinitions in Go modules. */
const folders = {
  'cert-manager': 'github.com/cert-manager/cert-manager@v1.21.2/deploy/crds',
  'Gateway API': 'sigs.k8s.io/gateway-api@v1.4.0/config/crd/standard',
  'Prometheus Operator':
    'github.com/prometheus-operator/prometheus-operator@v0.85.0/example/prometheus-operator-crd',
  Crossplane: 'github.com/crossplane/crossplane@v1.20.0/cluster/crds',
  Istio: 'istio.io/api@v1.31.4/kubernetes',
  'Argo Rollouts': 'github.com/argoproj/argo-rollouts@v1.8.0/manifests/crds',
} as const;

/** A project with CustomResourceDefinitions. */
type Project = keyof typeof folders;

/** Projects whose CRDs are in Go modules. */
export const foreignProjects = Object.keys(folders) as readonly Project[];

/** Downloads the module of a project, and returns the folder with its definitions. */
export async function foreignDefinitions(project: Project): Promise<string> {
  const [, module = '', inner = ''] = /^([^@]+@[^/]+)\/(.+)$/.exec(folders[project]) ?? [];
  const downloaded = await go(['mod', 'download', '-json', module], { cwd: tmpdir() });
  const { Dir } = JSON.parse(downloaded) as { Dir: string };
  return join(Dir, inner);
}
