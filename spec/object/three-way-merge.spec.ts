import { expect } from 'chai';
import fc from 'fast-check';
import { definition } from '../../lib/crd/openapi/definitions.js';
import { setFieldsOf, threeWayMerge } from '../../lib/object/three-way-merge.js';
import type { ThreeWayMerge } from '../../lib/object/three-way-merge.js';

const podSpec = definition('io.k8s.api.core.v1.PodSpec');
const serviceSpec = definition('io.k8s.api.core.v1.ServiceSpec');
const deploymentSpec = definition('io.k8s.api.apps.v1.DeploymentSpec');
const policySpec = definition('io.k8s.api.networking.v1.NetworkPolicySpec');

/** Merges. `before` is the desired state of the previous merge. */
function merge(
  { before = {}, desired, current }: { before?: object; desired: object; current: object },
  options: Pick<ThreeWayMerge, 'schema' | 'isWhole'> = { schema: undefined },
): object {
  const applied = setFieldsOf(before, options.schema);
  return threeWayMerge({ applied, desired, current, ...options });
}

describe('a three-way merge', () => {
  it('removes fields that are no longer desired, and keeps fields of other writers', () => {
    const before = { labels: { a: '1', b: '2' } };
    const current = { labels: { a: '1', b: '2', theirs: '3' } };
    const merged = merge({ before, desired: { labels: { a: '9' } }, current });
    expect(merged).to.deep.equal({ labels: { a: '9', theirs: '3' } });
  });

  it('returns the current object when nothing changes', () => {
    const current = { a: { b: [1, { c: 2 }] }, defaulted: true };
    const desired = { a: { b: [1, { c: 2 }] }, absent: undefined, nothing: null };
    expect(merge({ before: desired, desired, current })).to.equal(current);
  });

  it('treats empty maps, empty lists, null and zeros that are defaults as absent in built-in kinds', () => {
    const current = { containers: [{ name: 'web' }], tolerations: null };
    const web = { name: 'web', tty: false, env: [], ports: [], resources: { limits: {} } };
    const desired = { containers: [web], nodeSelector: {}, tolerations: [], hostNetwork: false };
    const merged = merge({ before: desired, desired, current }, { schema: podSpec });
    expect(merged).to.deep.equal({
      ...current,
      containers: [{ name: 'web', resources: { limits: {} } }],
    });
    const known = { ...current, containers: [{ name: 'web', resources: {} }] };
    expect(merge({ before: desired, desired, current: known }, { schema: podSpec })).to.equal(
      known,
    );
  });

  const zeros: readonly (readonly [kind: string, member: string, zero: unknown])[] = [
    ['EnvVar', 'value', ''],
    ['Container', 'workingDir', ''],
    ['VolumeMount', 'subPath', ''],
    ['VolumeMount', 'readOnly', false],
    ...['stdin', 'stdinOnce', 'tty'].map((name) => ['Container', name, false] as const),
    ...['hostNetwork', 'hostPID', 'hostIPC'].map((name) => ['PodSpec', name, false] as const),
    ['ServiceSpec', 'publishNotReadyAddresses', false],
    ['Probe', 'initialDelaySeconds', 0],
    ['ContainerPort', 'hostPort', 0],
    ['ServicePort', 'nodePort', 0],
    ['ReplicationControllerSpec', 'minReadySeconds', 0],
  ];
  for (const [kind, member, zero] of zeros) {
    it(`treats a desired ${member} of ${JSON.stringify(zero)} in a ${kind} as equal to an absent one`, () => {
      const schema = definition(`io.k8s.api.core.v1.${kind}`);
      const [desired, current] = [{ [member]: zero }, { other: 1 }];
      expect(merge({ before: desired, desired, current }, { schema })).to.equal(current);
    });
  }

  it('treats an absent `paused` of a Deployment as false', () => {
    const [desired, current] = [{ paused: false }, { replicas: 1 }];
    expect(merge({ desired, current }, { schema: deploymentSpec })).to.equal(current);
  });

  it('sets a desired 0 or false if the default of the absent field is another value', () => {
    const desired = { automountServiceAccountToken: false, terminationGracePeriodSeconds: 0 };
    expect(merge({ before: desired, desired, current: {} }, { schema: podSpec })).to.deep.equal(
      desired,
    );
  });

  it('sets desired empty values in the data of a ConfigMap, whatever their keys', () => {
    const schema = definition('io.k8s.api.core.v1.ConfigMap');
    const desired = { data: { value: '', paused: '' } };
    expect(merge({ desired, current: { data: {} } }, { schema })).to.deep.equal(desired);
  });

  it('sets desired empty objects, and any empty value in kinds without a schema', () => {
    const peer = { podSelector: { matchLabels: { app: 'web' } } };
    const desired = { ingress: [{ from: [{ ...peer, namespaceSelector: {} }] }] };
    const current = { ingress: [{ from: [peer] }] };
    const options = { schema: policySpec };
    expect(merge({ before: current, desired, current }, options)).to.deep.equal(desired);
    const [before, after] = [{ ca: { secretName: 'ca' } }, { selfSigned: {}, hosts: [] }];
    expect(merge({ before, desired: after, current: before })).to.deep.equal(after);
  });

  it('keeps members that the server added to a reference, and removes members that were desired before', () => {
    const env = (...valueFrom: object[]): object => ({
      containers: [{ name: 'web', env: valueFrom.map((from) => ({ name: 'A', valueFrom: from })) }],
    });
    const options = { schema: podSpec };
    const filled = env({ fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } });
    const desired = env({ fieldRef: { fieldPath: 'metadata.name' } });
    expect(merge({ before: desired, desired, current: filled }, options)).to.equal(filled);
    const before = env({ secretKeyRef: { name: 's', key: 'k', optional: true } });
    const strict = env({ secretKeyRef: { name: 's', key: 'k' } });
    expect(merge({ before, desired: strict, current: before }, options)).to.deep.equal(strict);
  });

  it('replaces a changed atomic map as a whole, and treats a member with the value undefined as absent', () => {
    const desired = { selector: { matchLabels: { app: 'web' }, matchExpressions: undefined } };
    const current = { selector: { matchLabels: { app: 'web' } } };
    const options = { schema: deploymentSpec };
    expect(merge({ before: desired, desired, current }, options)).to.equal(current);
    const changed = { selector: { matchLabels: { app: 'web', more: 'x' } } };
    expect(merge({ before: desired, desired, current: changed }, options)).to.deep.equal(current);
  });

  const container = (fields: object): object => ({ containers: [{ name: 'web', ...fields }] });
  const otherMembers: Record<string, readonly [object, object]> = {
    'the value of an environment variable, replaced by valueFrom': [
      container({ env: [{ name: 'A', value: 'x' }] }),
      container({ env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } }] }),
    ],
    'fieldRef of an environment variable, replaced by secretKeyRef': [
      container({ env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'a' } } }] }),
      container({
        env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } }],
      }),
    ],
    'a probe by httpGet': [
      container({ livenessProbe: { httpGet: { port: 80 } } }),
      container({ livenessProbe: { tcpSocket: { port: 80 } } }),
    ],
    'a probe by exec': [
      container({ readinessProbe: { exec: { command: ['a'] } } }),
      container({ readinessProbe: { grpc: { port: 80 } } }),
    ],
    'a probe by tcpSocket': [
      container({ startupProbe: { tcpSocket: { port: 80 } } }),
      container({ startupProbe: { grpc: { port: 80 } } }),
    ],
    'a lifecycle hook by httpGet': [
      container({ lifecycle: { preStop: { httpGet: { port: 80 } } } }),
      container({ lifecycle: { preStop: { exec: { command: ['a'] } } } }),
    ],
    'a lifecycle hook that sleeps': [
      container({ lifecycle: { postStart: { sleep: { seconds: 1 } } } }),
      container({ lifecycle: { postStart: { tcpSocket: { port: 80 } } } }),
    ],
    'a lifecycle hook that sleeps, replaced by exec': [
      container({ lifecycle: { postStart: { sleep: { seconds: 1 } } } }),
      container({ lifecycle: { postStart: { exec: { command: ['a'] } } } }),
    ],
    'fieldRef of an environment variable, replaced by resourceFieldRef': [
      container({ env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'a' } } }] }),
      container({ env: [{ name: 'A', valueFrom: { resourceFieldRef: { resource: 'r' } } }] }),
    ],
    'configMapKeyRef of an environment variable, replaced by secretKeyRef': [
      container({ env: [{ name: 'A', valueFrom: { configMapKeyRef: { name: 's', key: 'k' } } }] }),
      container({ env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } }] }),
    ],
    'the source of a volume': [
      { volumes: [{ name: 'v', emptyDir: {} }] },
      { volumes: [{ name: 'v', configMap: { name: 'c' } }] },
    ],
  };
  for (const [name, [one, other]] of Object.entries(otherMembers)) {
    it(`reverts a union to its desired member, although another member was set: ${name}`, () => {
      const options = { schema: podSpec };
      expect(merge({ before: one, desired: one, current: other }, options)).to.deep.equal(one);
      expect(merge({ before: other, desired: other, current: one }, options)).to.deep.equal(other);
    });
  }

  it('compares quantities by amount where the schema declares a quantity, and other texts exactly', () => {
    const of = (cpu: string, NAME: string): object => ({
      containers: [
        { name: 'web', resources: { limits: { cpu } }, env: [{ name: 'NAME', value: NAME }] },
      ],
    });
    const current = of('1', '1');
    const options = { schema: podSpec };
    expect(merge({ desired: of('1000m', '1'), current }, options)).to.equal(current);
    expect(merge({ desired: of('1', '1.0'), current }, options)).to.deep.equal(of('1', '1.0'));
  });

  it('matches entries of a list by their merge key, and keeps members that the server has defaulted in them', () => {
    const current = {
      containers: [
        { name: 'side', image: 'side:1' },
        { name: 'web', image: 'web:1', imagePullPolicy: 'IfNotPresent' },
      ],
    };
    const desired = { containers: [{ name: 'web', image: 'web:2' }] };
    expect(merge({ desired, current }, { schema: podSpec })).to.deep.equal({
      containers: [
        { name: 'side', image: 'side:1' },
        { name: 'web', image: 'web:2', imagePullPolicy: 'IfNotPresent' },
      ],
    });
  });

  it('removes entries that were desired before from a list with a merge key', () => {
    const before = { containers: [{ name: 'web' }, { name: 'side' }] };
    const desired = { containers: [{ name: 'web' }] };
    const merged = merge({ before, desired, current: before }, { schema: podSpec });
    expect(merged).to.deep.equal(desired);
  });

  it('removes entries of other managers from a list for which isWhole returns true', () => {
    const current = { containers: [{ name: 'web' }, { name: 'added' }], volumes: [{ name: 'v' }] };
    const isWhole: ThreeWayMerge['isWhole'] = (path) => path.join() === 'f:containers';
    const desired = { containers: [{ name: 'web' }], volumes: [] };
    const merged = merge({ desired, current }, { schema: podSpec, isWhole });
    expect(merged).to.deep.equal({ containers: [{ name: 'web' }], volumes: [{ name: 'v' }] });
  });

  it('sorts entries in the desired order, and keeps each other entry after the same entry as before', () => {
    const named = (...names: string[]): object => ({
      containers: names.map((name) => ({ name })),
    });
    const current = named('x', 'a', 'y', 'b');
    expect(merge({ desired: named('b', 'a'), current }, { schema: podSpec })).to.deep.equal(
      named('x', 'b', 'a', 'y'),
    );
  });

  it('distinguishes ports with the same number by protocol, TCP by default', () => {
    const current = {
      ports: [
        { port: 53, protocol: 'TCP', targetPort: 53, nodePort: 30053 },
        { port: 53, protocol: 'UDP', targetPort: 53, nodePort: 30054 },
      ],
    };
    const desired = { ports: [{ port: 53 }, { port: 53, protocol: 'UDP', targetPort: 54 }] };
    const [tcp, udp] = current.ports;
    expect(merge({ desired, current }, { schema: serviceSpec })).to.deep.equal({
      ports: [tcp, { ...udp, targetPort: 54 }],
    });
  });

  it('keeps defaulted members in the entries of a list without a merge key while its length is the same', () => {
    const current = { ingress: [{ ports: [{ port: 80, protocol: 'TCP' }] }] };
    const options = { schema: policySpec };
    expect(merge({ desired: { ingress: [{ ports: [{ port: 80 }] }] }, current }, options)).to.equal(
      current,
    );
    const desired = { ingress: [{ ports: [{ port: 81 }, { port: 80 }] }] };
    expect(merge({ desired, current }, options)).to.deep.equal(desired);
  });

  it('removes a member that was desired before from an entry of a list without a merge key', () => {
    const before = { ingress: [{ ports: [{ port: 80, protocol: 'UDP' }] }] };
    const desired = { ingress: [{ ports: [{ port: 80 }] }] };
    const merged = merge({ before, desired, current: before }, { schema: policySpec });
    expect(merged).to.deep.equal(desired);
  });

  it('removes the defaulted fields of a strategy when another strategy is desired', () => {
    const current = { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%' } } };
    const desired = { strategy: { type: 'Recreate' } };
    expect(merge({ desired, current }, { schema: deploymentSpec })).to.deep.equal(desired);
  });

  it('treats keys such as __proto__ as data', () => {
    const desired = JSON.parse('{"data":{"__proto__":"x","constructor":"y"}}') as object;
    const current = JSON.parse('{"data":{"__proto__":"w","toString":"z"}}') as object;
    const merged = JSON.stringify(merge({ desired, current }));
    expect(merged).to.equal('{"data":{"__proto__":"x","toString":"z","constructor":"y"}}');
  });

  it('without a schema, replaces lists of different length as a whole', () => {
    const merged = merge({ desired: { list: ['a'] }, current: { list: ['a', 'b'] } });
    expect(merged).to.deep.equal({ list: ['a'] });
  });

  const entries = (...names: string[]): object => ({ list: names.map((name) => ({ name })) });
  const identities: Record<string, [list: object, isMerged: boolean]> = {
    'a map list': [
      { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] },
      true,
    ],
    'a map list without keys': [{ 'x-kubernetes-list-type': 'map' }, false],
    'a set': [{ 'x-kubernetes-list-type': 'set' }, true],
    'an atomic list': [
      {
        'x-kubernetes-list-type': 'atomic',
        ...{ 'x-kubernetes-patch-strategy': 'merge', 'x-kubernetes-patch-merge-key': 'name' },
      },
      false,
    ],
    'a list of a strategic merge with a key': [
      { 'x-kubernetes-patch-strategy': 'merge', 'x-kubernetes-patch-merge-key': 'name' },
      true,
    ],
    'a list of a strategic merge without a key': [{ 'x-kubernetes-patch-strategy': 'merge' }, true],
    'a list that is replaced': [{ 'x-kubernetes-patch-merge-key': 'name' }, false],
    'a list with keys only': [{ 'x-kubernetes-list-map-keys': ['name'] }, false],
  };
  for (const [title, [list, isMerged]] of Object.entries(identities)) {
    it(`${isMerged ? 'keeps' : 'removes'} entries of other writers in ${title}`, () => {
      const items = { type: 'object', properties: { name: { type: 'string' } } } as const;
      const schema = { properties: { list: { type: 'array' as const, items, ...list } } };
      const [desired, current] = [entries('b'), entries('a', 'b', 'c')];
      const expected = isMerged ? current : desired;
      expect(merge({ desired, current }, { schema })).to.deep.equal(expected);
    });
  }

  it('replaces a value by a value of another type', () => {
    const forms = [{ a: 1 }, [1], 'text', 7];
    for (const one of forms) {
      for (const other of forms) {
        const merged = merge({ desired: { x: one }, current: { x: other } });
        expect(merged).to.deep.equal({ x: one });
      }
    }
  });

  it('replaces a list as a whole if two desired entries have the same merge key', () => {
    const twice = { containers: [{ name: 'a' }, { name: 'a', image: 'x' }] };
    const merged = merge(
      { desired: twice, current: { containers: [{ name: 'b' }] } },
      { schema: podSpec },
    );
    expect(merged).to.deep.equal(twice);
  });

  const json = fc.dictionary(
    fc.constantFrom('a', 'b', 'c', '__proto__'),
    fc.jsonValue({ maxDepth: 3 }),
  );

  it('changes nothing when it is applied to its own result', () => {
    fc.assert(
      fc.property(json, json, json, (before, desired, current) => {
        const once = merge({ before, desired, current });
        expect(merge({ before: desired, desired, current: once })).to.equal(once);
      }),
    );
  });

  it('removes exactly the fields that were desired before when nothing is desired', () => {
    fc.assert(
      fc.property(json, json, (before, others) => {
        const applied = setFieldsOf(before, undefined);
        const left = threeWayMerge({
          ...{ applied, desired: {}, schema: undefined },
          current: { ...others, ...before },
        });
        // A null in `before` did not set a field.
        const kept = Object.entries({ ...others, ...before })
          .filter(([name, value]) => !Object.hasOwn(before, name) || value === null)
          .map(([name]) => name);
        expect(Object.keys(left).sort()).to.deep.equal(kept.sort());
      }),
    );
  });
});
