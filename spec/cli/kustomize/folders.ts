import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Files of a kustomization, by their paths; that of the kustomization to be built is in `.`. */
export type Folder = Readonly<Record<string, string>>;

/** Writes the files of a kustomization. */
export async function writeFolder(folder: string, files: Folder): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
}

const deployment = `
apiVersion: apps/v1
kind: Deployment
metadata: { name: web, namespace: system, labels: { app: web } }
spec:
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec:
      serviceAccountName: runner
      initContainers: [{ name: init, image: 'host:5000/web' }]
      containers:
        - name: web
          image: web:1
          ports: [{ containerPort: 80, protocol: TCP }, { containerPort: 80, protocol: UDP, name: u }]
          env:
            - { name: A, value: '1' }
            - { name: B, valueFrom: { configMapKeyRef: { name: settings, key: b } } }
          envFrom: [{ secretRef: { name: login } }, { configMapRef: { name: other } }]
        - { name: side, image: 'side@sha256:abc' }
      volumes:
        - { name: c, configMap: { name: settings, defaultMode: 0644 } }
        - { name: s, secret: { secretName: login } }
        - { name: p, projected: { sources: [{ configMap: { name: settings } }] } }
`;

const rbac = `
apiVersion: v1
kind: ServiceAccount
metadata: { name: runner, namespace: system }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: { name: work, namespace: system }
rules: [{ apiGroups: [''], resources: [configmaps], resourceNames: [settings], verbs: [get] }]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: work }
rules:
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: { name: work, namespace: elsewhere }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: work }
subjects:
  - { kind: ServiceAccount, name: runner, namespace: system }
  - { kind: ServiceAccount, name: default, namespace: system }
  - { kind: User, name: somebody }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: { name: work }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: work }
subjects: [{ kind: ServiceAccount, name: runner, namespace: system }]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: { name: own, namespace: system }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: Role, name: work }
subjects: [{ kind: ServiceAccount, name: runner, namespace: system }]
`;

const webhooks = `
apiVersion: v1
kind: Service
metadata: { name: hooks, namespace: system }
spec: { selector: { app: web }, ports: [{ port: 443 }] }
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: { name: checks }
webhooks:
  - name: a.example.com
    clientConfig: { service: { name: hooks, namespace: system, path: /a } }
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: { name: fills }
webhooks:
  - name: b.example.com
    clientConfig: { service: { name: hooks, namespace: system, path: /b } }
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: shops.example.com }
spec:
  group: example.com
  names: { kind: Shop, plural: shops }
  conversion:
    strategy: Webhook
    webhook: { clientConfig: { service: { name: hooks, namespace: system } } }
---
apiVersion: v1
kind: Namespace
metadata: { name: system }
`;

const certificate = `
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: { name: serving, namespace: system }
spec:
  dnsNames: [NAME.NAMESPACE.svc, NAME.NAMESPACE.svc.cluster.local]
  secretName: login
`;

const custom = `
apiVersion: example.com/v1
kind: Shop
metadata: { name: first }
spec: { template: { spec: { containers: [{ image: 'web:1' }] } }, list: [{ name: a, x: 1 }], configMap: settings }
`;

const settings = 'configMapGenerator: [{ name: settings, namespace: system, literals: [b=1] }]\n';
const login =
  'secretGenerator: [{ name: login, namespace: system, type: x/y, literals: ["c=<3&"], options: { labels: { l: v } } }]\n';

const base: Folder = {
  'base/kustomization.yaml': `resources: [deployment.yaml, rbac.yaml, webhooks.yaml]\n${settings}${login}`,
  'base/deployment.yaml': deployment,
  'base/rbac.yaml': rbac,
  'base/webhooks.yaml': webhooks,
};

const above = (content: string): Folder => ({
  ...base,
  'kustomization.yaml': `resources: [base]\n${content}`,
});

/** Adds a patch of the Deployment. */
const patch = (spec: string, more = ''): Folder =>
  above(`
patches:
  - ${more}patch: |
      apiVersion: apps/v1
      kind: Deployment
      metadata: { name: web, namespace: system }
      spec: ${spec}
`);

const inPod = (spec: string): string => `{ template: { spec: ${spec} } }`;

/** Kustomizations, each for one thing that can be said in it. */
export const folders: Readonly<Record<string, Folder>> = {
  'a base': above(''),
  'a namespace': above('namespace: there'),
  'a prefix': above('namePrefix: my-'),
  'a suffix': above('nameSuffix: -v2'),
  'all of the names': above('namespace: there\nnamePrefix: my-\nnameSuffix: -v2'),
  'labels of the objects': above('labels: [{ pairs: { team: a, other: "1" } }]'),
  'labels of templates': above('labels: [{ pairs: { team: a }, includeTemplates: true }]'),
  'labels of selectors': above('labels: [{ pairs: { team: a }, includeSelectors: true }]'),
  'labels of fields': above(
    'labels: [{ pairs: { team: a }, fields: [{ path: spec/own, create: true, kind: Service }] }]',
  ),
  'common labels': above('commonLabels: { team: a }'),
  'common annotations': above('commonAnnotations: { note: a }'),
  'images by tag': above('images: [{ name: web, newTag: "7" }, { name: side, newName: other }]'),
  'images by digest': above('images: [{ name: "host:5000/web", digest: "sha256:1f" }]'),
  'images with a suffix': above('images: [{ name: web, tagSuffix: -x, newName: a/b }]'),
  'images of custom resources': {
    'kustomization.yaml': 'resources: [custom.yaml]\nimages: [{ name: web, newTag: "2" }]',
    'custom.yaml': custom,
  },
  replicas: above('replicas: [{ name: web, count: 3 }]'),
  'a patch of containers': patch(
    inPod('{ containers: [{ name: new, image: n }, { name: side, command: [run] }] }'),
  ),
  'a patch of the environment': patch(
    inPod('{ containers: [{ name: web, env: [{ name: B, $patch: delete }, { name: C }] }] }'),
  ),
  'a patch of ports': patch(
    inPod(
      '{ containers: [{ name: web, ports: [{ containerPort: 81 }, { containerPort: 80, protocol: UDP, name: w }] }] }',
    ),
  ),
  'a patch that removes': patch(
    inPod('{ volumes: null, serviceAccountName: null, x: { y: null } }'),
  ),
  'a patch that replaces': patch(
    inPod('{ volumes: [{ $patch: replace }, { name: v, emptyDir: {} }] }'),
  ),
  'a patch that replaces an object': patch('{ template: { $patch: replace, spec: { a: 1 } } }'),
  'a patch that deletes a list': patch(inPod('{ volumes: [{ $patch: delete }] }')),
  'a patch with a target': patch('{ replicas: 2 }', 'target: { kind: Deploy.*, name: w.b }\n    '),
  'a patch that deletes': above(`
patches:
  - target: { kind: '(Cluster)?RoleBinding', namespace: elsewhere }
    patch: |
      $patch: delete
      kind: RoleBinding
      metadata: { name: any }
`),
  'a patch that renames': above(`
patches:
  - target: { kind: ServiceAccount }
    options: { allowNameChange: true }
    patch: |
      kind: ServiceAccount
      metadata: { name: jogger, finalizers: [b, a] }
`),
  'a patch in a file': {
    ...above('patches: [{ path: patch.yaml }]\nnamePrefix: my-'),
    'patch.yaml': `
apiVersion: v1
kind: Service
metadata: { name: hooks, namespace: system }
spec: { ports: [{ port: 443, targetPort: 9443 }, { port: 80 }] }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: work }
rules: [{ verbs: [get] }]
`,
  },
  'a patch of a custom resource': {
    'kustomization.yaml': `
resources: [custom.yaml]
patches: [{ patch: '{ apiVersion: example.com/v1, kind: Shop, metadata: { name: first, labels: { a: b } }, spec: { list: [{ name: b }] } }' }]`,
    'custom.yaml': custom,
  },
  'a JSON patch': above(`
patches:
  - target: { group: apps, version: v1, kind: Deployment, labelSelector: app=web }
    patch: |
      - { op: replace, path: /spec/template/spec/containers/0/image, value: other }
      - { op: add, path: /metadata/annotations, value: { a: b } }
      - { op: add, path: /spec/template/spec/containers/0/args, value: [--x] }
      - { op: add, path: /spec/template/spec/containers/0/args/-, value: --y }
      - { op: remove, path: /spec/template/spec/containers/1 }
`),
  'a JSON patch in JSON': {
    ...above(
      'patches: [{ path: patch.json, target: { annotationSelector: "!x", kind: Service } }]',
    ),
    'patch.json': '[{ "op": "test", "path": "/spec/selector/app", "value": "web" }]',
  },
  replacements: {
    ...above(`
namePrefix: my-
namespace: there
replacements:
  - source: { kind: Service, name: hooks, fieldPath: metadata.name }
    targets:
      - select: { kind: Certificate }
        fieldPaths: [spec.dnsNames.0, spec.dnsNames.1]
        options: { delimiter: ., index: 0 }
  - source: { kind: Service, name: hooks, fieldPath: metadata.namespace }
    targets:
      - select: { kind: Certificate }
        fieldPaths: [spec.dnsNames.*]
        options: { delimiter: ., index: 1 }
  - source: { kind: Certificate, name: serving, namespace: system }
    targets:
      - select: { group: admissionregistration.k8s.io }
        reject: [{ name: fills }]
        fieldPaths: ['metadata.annotations.[cert-manager.io/inject-ca-from]']
        options: { delimiter: /, index: 1, create: true }
      - select: { kind: Deployment }
        fieldPaths: ['spec.template.spec.containers.[name=web].image']
`),
    'base/kustomization.yaml': `resources: [deployment.yaml, rbac.yaml, webhooks.yaml, cert.yaml]\n${settings}${login}`,
    'base/cert.yaml': certificate,
  },
  configurations: {
    ...above('namePrefix: my-\nconfigurations: [fields.yaml]'),
    'fields.yaml': `
nameReference:
  - { kind: ConfigMap, fieldSpecs: [{ kind: Shop, path: spec/configMap }] }
  - kind: Service
    version: v1
    fieldSpecs:
      - kind: CustomResourceDefinition
        group: apiextensions.k8s.io
        path: spec/conversion/webhook/clientConfig/service/name
`,
    'base/kustomization.yaml': `resources: [webhooks.yaml, custom.yaml]\nnamespace: s\nconfigMapGenerator: [{ name: settings, literals: [a=b] }]`,
    'base/custom.yaml': custom,
  },
  'three layers': {
    ...base,
    'middle/kustomization.yaml':
      'resources: [../base]\nnamePrefix: mid-\nconfigMapGenerator: [{ name: other, namespace: system, files: [a.txt, key=b.bin], envs: [e.env] }]',
    'middle/a.txt': 'text\n',
    'middle/b.bin': 'more',
    'middle/e.env': '# no\n\n  A=1\nB=x=y\n',
    'kustomization.yaml':
      'resources: [middle, extra.yaml]\nnamespace: there\nnameSuffix: -x\nlabels: [{ pairs: { a: b }, includeSelectors: true }]',
    'extra.yaml': custom.replace('first', 'second'),
  },
  'two bases of one': {
    ...base,
    'one/kustomization.yaml': 'resources: [../base/deployment.yaml.d]\nnamePrefix: one-',
    'two/kustomization.yaml': 'resources: [../base/deployment.yaml.d]\nnamePrefix: two-',
    'base/deployment.yaml.d/kustomization.yaml': `resources: [d.yaml]\n${settings}${login}`,
    'base/deployment.yaml.d/d.yaml': deployment,
    'kustomization.yaml': 'resources: [one, two]\nnamespace: there\nnamePrefix: all-',
  },
  'roles of one name in other layers': {
    'a/kustomization.yaml': 'resources: [a.yaml]\nnamePrefix: a-',
    'a/a.yaml':
      'apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: { name: work }\nrules: []',
    'b/kustomization.yaml': 'resources: [b.yaml]\nnamePrefix: b-',
    'b/b.yaml': `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: work }
rules: []
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: { name: work }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: work }
`,
    'kustomization.yaml': 'resources: [a, b]\nnamespace: there',
  },
  'a reference to what got no prefix': {
    'a/kustomization.yaml': 'resources: [a.yaml]\nnamePrefix: a-',
    'a/a.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: c, namespace: x }',
    'b/kustomization.yaml': `resources: [b.yaml]\nnamePrefix: b-`,
    'b/b.yaml': workload('apiVersion: apps/v1\nkind: DaemonSet'),
    'c/kustomization.yaml': 'resources: [c.yaml]\nnameSuffix: -c',
    'c/c.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: c, namespace: x }',
    'kustomization.yaml': 'resources: [a, b, c]\nnamespace: there',
  },
  'images anywhere, but for CRDs': {
    'kustomization.yaml': 'resources: [crd.yaml]\nimages: [{ name: web, newTag: "2" }]',
    'crd.yaml': `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: shops.example.com }
spec: { default: { containers: [{ image: 'web:1' }] } }
---
apiVersion: example.com/v1
kind: Shop
metadata: { name: a }
spec: { all: [{ initContainers: [{ image: 'web:1' }] }] }
`,
  },
  'a component': {
    ...above('components: [part]\nnamePrefix: my-'),
    'part/kustomization.yaml':
      'apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nresources: [c.yaml]\npatches: [{ target: { kind: Deployment }, patch: "{ kind: Deployment, apiVersion: apps/v1, metadata: { name: x }, spec: { replicas: 5 } }" }]',
    'part/c.yaml': custom,
  },
  generators: {
    'kustomization.yaml': `
generatorOptions: { labels: { all: them }, annotations: { note: a } }
configMapGenerator:
  - { name: empty }
  - { name: plain, literals: ['q="x y"', k10=ten, k9=nine], options: { disableNameSuffixHash: true } }
  - { name: fixed, literals: [a=b], options: { immutable: true, labels: { own: one } } }
secretGenerator:
  - { name: long, literals: [k=${'0123456789'.repeat(12)}] }
  - { name: none }
`,
  },
  'objects for here only': {
    'kustomization.yaml': 'resources: [local.yaml]',
    'local.yaml': `${custom}---\napiVersion: v1\nkind: List\nitems:\n  - { apiVersion: v1, kind: ConfigMap, metadata: { name: a, annotations: { config.kubernetes.io/local-config: "true" } } }\n  - { apiVersion: v1, kind: ConfigMap, metadata: { name: b } }\n---\n# nothing\n`,
  },
  'the order of the files': {
    ...above('sortOptions: { order: fifo }'),
  },
  'an order of their own': {
    ...above(
      'sortOptions: { order: legacy, legacySortOptions: { orderFirst: [Secret], orderLast: [Namespace] } }',
    ),
  },
  'workloads of every kind': {
    'kustomization.yaml': `
resources: [all.yaml]
namePrefix: my-
commonAnnotations: { note: a }
labels: [{ pairs: { team: a }, includeSelectors: true }]
configMapGenerator: [{ name: c, literals: [a=b] }]
`,
    'all.yaml': ['DaemonSet', 'StatefulSet', 'ReplicaSet']
      .map((kind) => workload(`apiVersion: apps/v1\nkind: ${kind}`))
      .concat(workload('apiVersion: batch/v1\nkind: Job'), cronJob())
      .join('\n---\n'),
  },
};

function workload(type: string): string {
  const volumes = '{ volumes: [{ name: c, configMap: { name: c } }] }';
  return `${type}\nmetadata: { name: it }\nspec: { template: { spec: ${volumes} } }`;
}

function cronJob(): string {
  const volumes = '{ volumes: [{ name: c, configMap: { name: c } }] }';
  return `apiVersion: batch/v1\nkind: CronJob\nmetadata: { name: it }\nspec: { jobTemplate: { spec: { template: { spec: ${volumes} } } } }`;
}
