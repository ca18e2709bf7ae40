import fc from 'fast-check';
import {
  conditions,
  few,
  keyed,
  labels,
  map,
  members,
  of,
  quantity,
  small,
  word,
} from './arbitraries.js';
import type { Body } from './arbitraries.js';
import { builtIn, spec } from './random-kind.js';
import type { RandomKind } from './random-kind.js';
import { workloads } from './workload-kinds.js';

const intOrPercent = of<number | string>(1, 2, '25%', '50%');

const plain: readonly RandomKind[] = [
  builtIn(
    { kind: 'ConfigMap', plural: 'configmaps' },
    {
      apiVersion: 'v1',
      fields: members(
        {},
        {
          data: map(['k', 'l'], word),
          binaryData: map(['b', 'k'], of('eA==', '')),
          immutable: of(false),
        },
      ),
    },
  ),
  builtIn(
    { kind: 'Secret', plural: 'secrets' },
    {
      apiVersion: 'v1',
      fields: members(
        {},
        {
          data: map(['k', 'l'], of('eA==', 'eQ==', '')),
          stringData: map(['k', 'm'], word),
          type: of('Opaque', 'Opaque', 'example.com/t'),
        },
      ),
    },
  ),
  builtIn(
    { kind: 'ServiceAccount', plural: 'serviceaccounts' },
    {
      apiVersion: 'v1',
      fields: members(
        {},
        {
          secrets: keyed(members({ name: word }, { namespace: word }), ['name']),
          imagePullSecrets: few(members({ name: word })),
          automountServiceAccountToken: fc.boolean(),
        },
      ),
    },
  ),
  builtIn(
    { kind: 'PersistentVolumeClaim', plural: 'persistentvolumeclaims' },
    {
      apiVersion: 'v1',
      fields: spec(
        members(
          {
            accessModes: of(['ReadWriteOnce']),
            resources: members({}, { requests: members({ storage: of('1Gi', '1024Mi', '2Gi') }) }),
          },
          { storageClassName: of('', 's'), volumeName: of('v'), volumeMode: of('Filesystem') },
        ),
      ),
      status: members(
        {},
        {
          ...{ phase: of('Pending', 'Bound'), accessModes: few(of('ReadWriteOnce')) },
          ...{ capacity: map(['storage'], quantity), conditions: conditions() },
        },
      ),
    },
  ),
  builtIn(
    { kind: 'Lease', plural: 'leases' },
    {
      apiVersion: 'coordination.k8s.io/v1',
      fields: spec(
        members(
          {},
          {
            ...{ holderIdentity: word, leaseDurationSeconds: of(5, 15), leaseTransitions: small },
            renewTime: of('2026-01-01T00:00:00.000000Z', '2026-01-01T00:00:00.500000Z'),
          },
        ),
      ),
    },
  ),
  builtIn(
    { kind: 'RoleBinding', plural: 'rolebindings' },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      fields: members(
        {
          roleRef: of({ apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' }),
        },
        {
          subjects: few(
            fc.oneof(
              members(
                { kind: of('User'), name: word },
                { apiGroup: of('rbac.authorization.k8s.io') },
              ),
              members({ kind: of('ServiceAccount'), name: word, namespace: word }),
            ),
          ),
        },
      ),
    },
  ),
  builtIn(
    { kind: 'ClusterRole', plural: 'clusterroles', namespaced: false, withoutEmpty: true },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      fields: members(
        {},
        {
          rules: few(
            members({
              ...{ apiGroups: few(of('', 'apps')), resources: few(of('pods', 'nodes'), 1) },
              verbs: few(of('get', 'list')),
            }),
          ),
        },
      ),
    },
  ),
];

const network: readonly RandomKind[] = [
  builtIn(
    { kind: 'Service', plural: 'services' },
    {
      apiVersion: 'v1',
      fields: spec(
        members(
          {
            ports: keyed(
              members(
                { port: of(80, 81), name: of('p', 'q') },
                {
                  protocol: of('TCP', 'UDP'),
                  targetPort: of<number | string>(8080, 'x', 80),
                  appProtocol: of('http'),
                },
              ),
              ['port', 'protocol'],
              1,
            ),
          },
          {
            ...{
              selector: map(['app', 'b'], word),
              type: of('ClusterIP'),
            },
            sessionAffinity: of('ClientIP', 'None'),
            publishNotReadyAddresses: fc.boolean(),
          },
        ),
      ),
    },
  ),
  builtIn(
    { kind: 'Ingress', plural: 'ingresses', withoutEmpty: true },
    {
      apiVersion: 'networking.k8s.io/v1',
      fields: spec(
        members(
          { defaultBackend: of({ service: { name: 's', port: { number: 80 } } }) },
          {
            ingressClassName: word,
            tls: few(members({ hosts: few(of('a.example.com')) }, { secretName: word })),
            rules: few(
              members(
                {},
                {
                  host: of('a.example.com', 'b.example.com'),
                  http: members({
                    paths: few(
                      members({
                        ...{ path: of('/', '/x'), pathType: of('Prefix', 'Exact') },
                        backend: of({ service: { name: 's', port: { name: 'p' } } }),
                      }),
                    ),
                  }),
                },
              ),
            ),
          },
        ),
      ),
      status: members(
        {},
        { loadBalancer: members({}, { ingress: few(members({}, { ip: of('10.9.0.1') })) }) },
      ),
    },
  ),
  builtIn(
    { kind: 'NetworkPolicy', plural: 'networkpolicies', withoutEmpty: true },
    {
      apiVersion: 'networking.k8s.io/v1',
      fields: spec(
        members(
          { podSelector: of<Body>({}, { matchLabels: labels }) },
          {
            policyTypes: few(of('Ingress', 'Egress')),
            ingress: few(
              members(
                {},
                {
                  from: few(of<Body>({ podSelector: {} }, { ipBlock: { cidr: '10.0.0.0/8' } })),
                  ports: few(
                    members({}, { port: of<number | string>(80, 'p'), protocol: of('TCP', 'UDP') }),
                  ),
                },
              ),
            ),
            egress: few(of<Body>({}, { to: [{ namespaceSelector: {} }] })),
          },
        ),
      ),
    },
  ),
];

const target = of(
  { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' },
  { kind: 'Deployment', name: 'e' },
);
const scaler = { ...{ scaleTargetRef: target, maxReplicas: of(3, 4) } };

const policies: readonly RandomKind[] = [
  {
    ...{ kind: 'HorizontalPodAutoscaler', plural: 'horizontalpodautoscalers', strategic: true },
    withoutEmpty: true,
    versions: [
      {
        apiVersion: 'autoscaling/v2',
        fields: spec(
          members(scaler, {
            minReplicas: of(1, 2),
            metrics: few(
              fc.tuple(of('cpu'), of(50, 80)).map(([name, averageUtilization]) => ({
                type: 'Resource',
                resource: { name, target: { type: 'Utilization', averageUtilization } },
              })),
              1,
            ),
            behavior: of<Body>(
              {},
              { scaleDown: { stabilizationWindowSeconds: 5 } },
              { scaleUp: { policies: [{ type: 'Pods', value: 1, periodSeconds: 15 }] } },
              { scaleUp: { selectPolicy: 'Disabled' }, scaleDown: {} },
            ),
          }),
        ),
        status: members({}, { currentReplicas: small, desiredReplicas: small }),
      },
      {
        apiVersion: 'autoscaling/v1',
        fields: spec(
          members(scaler, { minReplicas: of(1, 2), targetCPUUtilizationPercentage: of(50, 80) }),
        ),
        status: members({ currentReplicas: small, desiredReplicas: small }),
      },
    ],
  },
  builtIn(
    { kind: 'PodDisruptionBudget', plural: 'poddisruptionbudgets' },
    {
      apiVersion: 'policy/v1',
      fields: spec(
        members(
          {},
          {
            selector: of<Body>({}, { matchLabels: labels }, { matchLabels: { b: 'c' } }),
            ...{ minAvailable: intOrPercent, maxUnavailable: intOrPercent },
            unhealthyPodEvictionPolicy: of('AlwaysAllow', 'IfHealthyBudget'),
          },
        ),
      ),
      status: members(
        {},
        {
          ...{ currentHealthy: small, disruptionsAllowed: small, observedGeneration: small },
          conditions: conditions({ reason: word }),
        },
      ),
    },
  ),
  builtIn(
    {
      ...{ kind: 'ValidatingWebhookConfiguration', plural: 'validatingwebhookconfigurations' },
      ...{ namespaced: false, withoutEmpty: true },
    },
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      fields: members(
        {},
        {
          webhooks: keyed(
            members(
              {
                name: of('a.example.com', 'b.example.com'),
                clientConfig: of({ url: 'https://127.0.0.1:1/a' }),
                sideEffects: of('None'),
                admissionReviewVersions: of(['v1']),
              },
              {
                rules: few(
                  members({
                    apiGroups: of(['none.example.com']),
                    ...{
                      apiVersions: of(['v1']),
                      resources: of(['x']),
                      operations: of(['CREATE']),
                    },
                  }),
                ),
                ...{ timeoutSeconds: of(1, 10), failurePolicy: of('Ignore', 'Fail') },
                matchConditions: keyed(members({ name: word, expression: of('true', 'false') }), [
                  'name',
                ]),
                namespaceSelector: of<Body>({}, { matchLabels: labels }),
              },
            ),
            ['name'],
          ),
        },
      ),
    },
  ),
];

/** The built-in kinds. */
export const builtInKinds: readonly RandomKind[] = [
  ...workloads,
  ...plain,
  ...network,
  ...policies,
];
