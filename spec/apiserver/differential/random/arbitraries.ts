import fc from 'fast-check';
import type { Arbitrary } from 'fast-check';

/** A JSON object. */
export type Body = Readonly<Record<string, unknown>>;

/** One of the values. */
export const of = <T>(...values: readonly T[]): Arbitrary<T> => fc.constantFrom(...values);

type Shape = Readonly<Record<string, Arbitrary<unknown>>>;

/** An object with the members of `required`, and some of `optional`. */
export const members = (required: Shape, optional: Shape = {}): Arbitrary<Body> =>
  fc.record({ ...required, ...optional }, { requiredKeys: Object.keys(required) });

/** Up to `maxLength` items, which may repeat. */
export const few = <T>(item: Arbitrary<T>, maxLength = 2): Arbitrary<T[]> =>
  fc.array(item, { maxLength });

/** Up to two objects that differ in the members of `keys`. */
export const keyed = (
  item: Arbitrary<Body>,
  keys: readonly string[],
  minLength = 0,
): Arbitrary<Body[]> =>
  fc.uniqueArray(item, {
    ...{ minLength, maxLength: 2 },
    selector: (value) => JSON.stringify(keys.map((key) => value[key])),
  });

/** Up to two members with names of `names`. */
export const map = <T>(names: readonly string[], value: Arbitrary<T>): Arbitrary<Body> =>
  fc.dictionary(of(...names), value, { maxKeys: 2 });

export const word = of('x', 'y', 'z');
export const small = fc.integer({ min: 0, max: 2 });
export const quantity = of<string | number>('1', '2', '1000m', 2, '1Gi', '1024Mi');

/** Metadata without a name. */
export const metadata = members(
  {},
  {
    labels: map(['l', 'm', 'n'], word),
    annotations: map(['o', 'p'], word),
    finalizers: fc.uniqueArray(of('a/b', 'c/d', 'e/f'), { maxLength: 2 }),
    ownerReferences: keyed(
      members(
        { ...{ apiVersion: of('v1'), kind: of('K') }, ...{ name: word, uid: of('u1', 'u2') } },
        { controller: fc.boolean(), blockOwnerDeletion: fc.boolean() },
      ),
      ['uid'],
    ),
  },
);

/** The labels of pods; their selectors have them too. */
export const labels = { app: 'a' };
export const selector = fc.constant({ matchLabels: labels });

const env = keyed(
  fc.oneof(
    members({ name: of('A', 'B', 'C') }, { value: word }),
    members({
      name: of('A', 'B', 'C'),
      valueFrom: of<Body>(
        { fieldRef: { fieldPath: 'metadata.name' } },
        { configMapKeyRef: { name: 'm', key: 'k' } },
      ),
    }),
  ),
  ['name'],
);

const ports = keyed(
  members({ containerPort: of(80, 81) }, { protocol: of('TCP', 'UDP'), name: of('p', 'q') }),
  ['containerPort', 'protocol'],
);

const probe = fc
  .tuple(
    members({}, { periodSeconds: of(5, 10), timeoutSeconds: of(1, 2) }),
    of<Body>({ exec: { command: ['x'] } }, { httpGet: { port: 80 } }, { tcpSocket: { port: 'p' } }),
  )
  .map(([times, handler]) => ({ ...times, ...handler }));

const securityContext = members(
  {},
  {
    ...{ runAsUser: small, privileged: fc.boolean() },
    capabilities: members({}, { add: few(word), drop: few(word) }),
  },
);

const container = (names: readonly string[], more: Shape = {}): Arbitrary<Body> =>
  members(
    { name: of(...names), image: word },
    {
      ...more,
      ...{ env, ports, args: few(word), command: few(word), tty: fc.boolean() },
      envFrom: few(members({ configMapRef: members({ name: word }) }, { prefix: of('P', 'Q') })),
      resources: members(
        {},
        { limits: map(['cpu', 'memory'], quantity), requests: map(['cpu'], of('1', '1m')) },
      ),
      volumeMounts: keyed(
        members({ name: of('v', 'w'), mountPath: of('/v', '/w') }, { readOnly: fc.boolean() }),
        ['mountPath'],
      ),
      securityContext,
      imagePullPolicy: of('Always', 'Never'),
    },
  );

const volumes = keyed(
  fc
    .tuple(
      of('v', 'w'),
      of<Body>(
        { emptyDir: {} },
        { emptyDir: { medium: 'Memory' } },
        { configMap: { name: 'm' } },
        { configMap: { name: 'm', items: [{ key: 'k', path: 'p' }], defaultMode: 256 } },
        { secret: { secretName: 's', optional: true } },
        { projected: { sources: [{ configMap: { name: 'm' } }] } },
        { hostPath: { path: '/x', type: '' } },
      ),
    )
    .map(([name, source]) => ({ name, ...source })),
  ['name'],
);

const anyPodSpec = members(
  { containers: keyed(container(['c', 'd'], { livenessProbe: probe }), ['name'], 1) },
  {
    ...{ initContainers: keyed(container(['i', 'j']), ['name']), volumes },
    ...{ nodeSelector: map(['n', 'm'], word), hostNetwork: fc.boolean() },
    tolerations: few(members({ key: word, operator: of('Exists') }, { effect: of('NoSchedule') })),
    imagePullSecrets: keyed(members({ name: word }), ['name']),
    hostAliases: keyed(members({ ip: of('10.0.0.1', '10.0.0.2'), hostnames: few(word) }), ['ip']),
    topologySpreadConstraints: keyed(
      members(
        { maxSkew: of(1, 2), topologyKey: word, whenUnsatisfiable: of('DoNotSchedule') },
        { labelSelector: selector },
      ),
      ['topologyKey'],
    ),
    securityContext: members(
      {},
      { fsGroup: small, supplementalGroups: few(small), sysctls: few(members({ name: word })) },
    ),
    dnsConfig: members({}, { searches: few(word), options: few(members({ name: word })) }),
    terminationGracePeriodSeconds: of(5, 30),
    affinity: of<Body>(
      { nodeAffinity: {} },
      { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [] } },
    ),
  },
);

/** The spec of a pod. */
export const podSpec = anyPodSpec.map((spec): Body => {
  const found = new Set((spec['volumes'] as Body[] | undefined)?.map(({ name }) => name));
  const mounted = (list: unknown): Body[] =>
    (list as Body[]).map((one) => {
      const mounts = one['volumeMounts'] as Body[] | undefined;
      return mounts?.every(({ name }) => found.has(name)) === false
        ? { ...one, volumeMounts: [] }
        : one;
    });
  const { containers, initContainers } = spec;
  return {
    ...spec,
    containers: mounted(containers),
    ...(initContainers !== undefined && { initContainers: mounted(initContainers) }),
  };
});

/** The template of pods with {@link labels}. */
export const template = fc
  .tuple(podSpec, members({}, { annotations: map(['o'], word) }))
  .map(([spec, more]) => ({ metadata: { labels, ...more }, spec }));

/** A list of conditions, with the further members of `more`. */
export const conditions = (more: Shape = {}): Arbitrary<Body[]> =>
  keyed(
    members(
      { type: of('Available', 'Ready'), status: of('True', 'False') },
      { ...{ message: word, lastTransitionTime: of('2026-01-01T00:00:00Z', null) }, ...more },
    ),
    ['type'],
  );
