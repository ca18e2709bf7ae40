/** Groups whose Go package is not in `k8s.io/api`. */
const ownPackages: Readonly<Partial<Record<string, string>>> = {
  'apiextensions.k8s.io': 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions',
  'apiregistration.k8s.io': 'io.k8s.kube-aggregator.pkg.apis.apiregistration',
};

/** Returns the OpenAPI name of a built-in kind: `io.k8s.api.apps.v1.Deployment`. */
export function definitionName(group: string, version: string, kind: string): string {
  const folder = group === '' ? 'core' : (group.split('.')[0] ?? '');
  const pack = ownPackages[group] ?? `io.k8s.api.${folder}`;
  return `${pack}.${version}.${kind}`;
}

/** Returns the Go name of a definition: `apps/v1.Deployment`. */
export function goTypeName(definition: string): string {
  const [kind = '', version = '', group = ''] = definition.split('.').reverse();
  return `${group}/${version}.${kind}`;
}
