import { expect } from 'chai';
import { definedKinds, waitForDefinition } from '../../lib/builder/apply-order.js';
import { stampTemplate, stampVariables, stampsFor } from '../../lib/builder/stamp.js';
import type { Stamp, StampSources } from '../../lib/builder/stamp.js';
import { OperatorError } from '../../lib/system/operator-error.js';

const image = 'registry.example/web:1';

function namesOf(stamps: readonly Stamp[], env: readonly { name: string }[] = []): string[] {
  const template = { spec: { containers: [{ name: 'web', image, env: [...env] }] } };
  return stampVariables(template, stamps).map(({ name }) => name);
}

describe('The environment variables with hashes in a pod template', () => {
  it('have upper-case names with _ for all characters but letters and digits', () => {
    const stamps: Stamp[] = [
      { kind: 'Secret', name: 'my.token-2', hash: 's' },
      { kind: 'ConfigMap', name: 'web-env', hash: 'c' },
    ];
    expect(namesOf(stamps)).to.deep.equal(['CONFIGMAP_HASH_WEB_ENV', 'SECRET_HASH_MY_TOKEN_2']);
  });

  it('have a hash of the object name in their names if two names collide', () => {
    const stamps: Stamp[] = [
      { kind: 'ConfigMap', name: 'a-b', hash: '1' },
      { kind: 'ConfigMap', name: 'a.b', hash: '2' },
      { kind: 'ConfigMap', name: 'c', hash: '3' },
    ];
    const names = namesOf(stamps);
    expect(names.filter((name) => /^CONFIGMAP_HASH_A_B_[0-9A-F]{8}$/.test(name))).to.have.length(2);
    expect(names).to.include('CONFIGMAP_HASH_C');
    expect(namesOf(stamps.toReversed())).to.deep.equal(names);
  });

  it('have a hash in their name if a variable of the user already has the name', () => {
    const stamps: Stamp[] = [{ kind: 'ConfigMap', name: 'env', hash: '1' }];
    const [name] = namesOf(stamps, [{ name: 'CONFIGMAP_HASH_ENV' }]);
    expect(name).to.match(/^CONFIGMAP_HASH_ENV_[0-9A-F]{8}$/);
  });

  it('leave the template itself unchanged if no variables have to be added', () => {
    const template = { spec: { containers: [{ name: 'web', image }] } };
    expect(stampTemplate(template, [])).to.equal(template);
  });

  it('are added to a copy of the template', () => {
    const template = { spec: { containers: [{ name: 'web', image }] } };
    const before = structuredClone(template);
    const stamps: Stamp[] = [{ kind: 'ConfigMap', name: 'env', hash: '1' }];
    const stamped = stampTemplate(template, stampVariables(template, stamps));
    expect(stamped.spec?.containers[0]?.env).to.have.length(1);
    expect(template).to.deep.equal(before);
  });
});

describe('The hashes for a workload', () => {
  const data = (a: string): object => ({ data: { a } });
  const workload = (pod: object, more: object = {}, kind = 'Deployment'): never =>
    ({
      chained: { link: { workload: more } },
      complete: {
        ...{ apiVersion: kind === 'Job' ? 'batch/v1' : 'apps/v1', kind, metadata: { name: 'web' } },
        spec: { template: { spec: { containers: [{ name: 'web', image, ...pod }] } } },
      },
    }) as never;
  const env = { envFrom: [{ configMapRef: { name: 'env' } }, { secretRef: { name: 'token' } }] };
  const optional = { envFrom: [{ configMapRef: { name: 'env', optional: true } }] };

  /** Returns sources of hashes. The data of each object is the name of its source: `desired`, `live` or `last`. */
  function sourcesOf(given: {
    readonly chained?: Record<string, object>;
    readonly applied?: readonly string[];
    readonly live?: readonly string[];
    readonly last?: readonly string[];
  }): StampSources {
    const { chained = {}, applied = [], live = [], last = [] } = given;
    return {
      salt: 'salt',
      chained: (kind, name) => {
        const link = chained[`${kind} ${name}`];
        return link && ({ object: data('desired'), ...link } as never);
      },
      applied: (kind, name) => applied.includes(`${kind} ${name}`),
      live: async (kind, name) =>
        live.includes(`${kind} ${name}`) ? (data('live') as never) : undefined,
      last: async ({ kind, name }) => (last.includes(`${kind} ${name}`) ? 'last' : undefined),
    };
  }

  /** Returns the source of each hash, by its object. */
  async function told(
    workloadGiven: never,
    given: Parameters<typeof sourcesOf>[0],
  ): Promise<Record<string, string>> {
    const hashes = new Map<string, string>([['last', 'last']]);
    for (const place of ['desired', 'live']) {
      const both = { chained: { 'ConfigMap env': {}, 'Secret token': {} } };
      const applied = place === 'desired' ? ['ConfigMap env', 'Secret token'] : [];
      const live = place === 'live' ? ['ConfigMap env', 'Secret token'] : [];
      const known = await stampsFor(workload(env), sourcesOf({ ...both, applied, live }));
      expect(known).to.have.length(2);
      for (const { hash } of known) hashes.set(hash, place);
    }
    const stamps = await stampsFor(workloadGiven, sourcesOf(given));
    return Object.fromEntries(
      stamps.map(({ kind, name, hash }) => [`${kind} ${name}`, hashes.get(hash) ?? 'another']),
    );
  }

  const both = { 'ConfigMap env': {}, 'Secret token': {} };
  const quiet = { 'ConfigMap env': { rolloutOnChange: false } };
  for (const [what, given, sources, expected] of [
    [
      'are of the desired data once it is applied, else of the live data',
      workload(env),
      { chained: both, applied: ['ConfigMap env'], live: ['ConfigMap env', 'Secret token'] },
      { 'ConfigMap env': 'desired', 'Secret token': 'live' },
    ],
    [
      'are of the desired data while an object does not exist',
      workload(env),
      { chained: both },
      { 'ConfigMap env': 'desired', 'Secret token': 'desired' },
    ],
    ['leave out objects outside of the chain', workload(env), { live: ['ConfigMap env'] }, {}],
    [
      'follow references to objects outside of the chain on request',
      workload(env, { followReferences: true }),
      { live: ['ConfigMap env'], last: ['Secret token'] },
      { 'ConfigMap env': 'live', 'Secret token': 'last' },
    ],
    [
      'leave out an object that does not exist, and that pods do not need or never had',
      workload(optional, { followReferences: true }),
      { last: ['ConfigMap env'] },
      {},
    ],
    ['leave out objects without rolloutOnChange', workload(env), { chained: quiet }, {}],
    [
      'include what rolloutOn names',
      workload(env, { rolloutOn: ['env'] }),
      { chained: quiet },
      { 'ConfigMap env': 'desired' },
    ],
    [
      'include what rolloutOn names although no pod refers to it',
      workload({}, { rolloutOn: ['env', 'token'] }),
      { chained: both },
      { 'ConfigMap env': 'desired', 'Secret token': 'desired' },
    ],
    ['are left out for a Job', workload(env, {}, 'Job'), { chained: both }, {}],
  ] as const) {
    it(what, async () => {
      expect(await told(given, sources)).to.deep.equal(expected);
    });
  }
});

describe('A custom resource whose definition is in the chain', () => {
  const type = {
    group: 'example.com',
    version: 'v1',
    kind: 'Widget',
    plural: 'widgets',
    namespaced: true,
  };
  const definition = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' };
  const ref = { ...definition, name: 'widgets.example.com', uid: 'u' };
  const established = { conditions: [{ type: 'Established', status: 'True' }] };
  const widget = {
    ref: { apiVersion: 'example.com/v1', kind: 'Widget', name: 'a' },
    type,
  } as never;

  async function wait(
    result: object,
    status: object | undefined,
    answer: () => Promise<unknown> = async () => type,
    state = 'done',
  ): Promise<unknown> {
    const outcomes = {
      get: (wanted: string) =>
        wanted.includes('widgets.example.com')
          ? {
              state,
              result: { operation: 'unchanged', ref, changes: [], ...result },
              live: { status },
            }
          : undefined,
    };
    const context = { client: { resourceType: answer } };
    const outcome = await waitForDefinition(context as never, widget, outcomes as never);
    const { reason, requeueAfterMs } =
      (outcome as { result?: { reason?: string; requeueAfterMs?: number } } | undefined)?.result ??
      {};
    return outcome && [reason, requeueAfterMs];
  }

  const subject = 'waits for CustomResourceDefinition widgets.example.com, which';
  const unknown = () => Promise.reject(new OperatorError('UnknownKind', 'no'));
  const spec = (manager?: string): object => ({
    operation: 'configured',
    changes: [{ path: 'spec.versions', from: 1, to: 2, ...(manager !== undefined && { manager }) }],
  });
  for (const [what, result, status, answer, expected] of [
    [
      'waits for a new definition',
      { operation: 'created' },
      established,
      undefined,
      ['was just applied', 1_000],
    ],
    ['waits for a changed definition', spec(), established, undefined, ['was just applied', 1_000]],
    [
      'does not wait for a definition whose drift was repaired',
      spec('other'),
      established,
      undefined,
      undefined,
    ],
    [
      'does not wait for a definition whose labels changed',
      { operation: 'configured', changes: [{ path: 'metadata.labels', from: 1, to: 2 }] },
      ...([established, undefined, undefined] as const),
    ],
    [
      'does not wait for a definition that is established and unchanged',
      {},
      established,
      undefined,
      undefined,
    ],
    [
      'waits until the definition is established',
      {},
      {},
      undefined,
      ['is not established yet', 5_000],
    ],
    [
      'waits until the definition has a status',
      {},
      undefined,
      undefined,
      ['is not established yet', 5_000],
    ],
    [
      'waits for a definition whose names are refused, and reports the reason',
      ...([
        {},
        { conditions: [{ type: 'NamesAccepted', status: 'False', message: 'taken' }] },
      ] as const),
      ...([undefined, ['is not established yet: taken', 5_000]] as const),
    ],
    [
      'waits until its version is served',
      ...([{}, established, unknown, ['is not served as example.com/v1 yet', 1_000]] as const),
    ],
  ] as const) {
    it(what, async () => {
      const found = await wait(result, status, answer);
      expect(found).to.deep.equal(
        expected === undefined ? undefined : [`${subject} ${expected[0]}`, expected[1]],
      );
    });
  }

  it('does not wait for a definition that failed, and fails with other errors', async () => {
    expect(await wait({ operation: 'created' }, {}, undefined, 'failed')).to.equal(undefined);
    const refused = () => Promise.reject(new Error('no connection'));
    expect(await wait({}, established, refused).catch(String)).to.equal('Error: no connection');
  });

  it('has a known kind if the definition serves its version', () => {
    const whole = (versions: unknown, scope = 'Namespaced'): never =>
      ({
        ...definition,
        metadata: { name: 'widgets.example.com' },
        spec: {
          group: 'example.com',
          names: { kind: 'Widget', plural: 'widgets' },
          scope,
          versions,
        },
      }) as never;
    const versions = [
      { name: 'v1', served: true },
      { name: 'v2', served: false },
    ];
    expect([...definedKinds([whole(versions)])]).to.deep.equal([['example.com/v1 Widget', type]]);
    expect([...definedKinds([whole(versions, 'Cluster')]).values()]).to.deep.equal([
      { ...type, namespaced: false },
    ]);
    const broken = [whole(undefined), whole(['v1']), { ...definition, metadata: {} } as never];
    const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: {} };
    expect([...definedKinds([...broken, map])]).to.deep.equal([]);
  });
});
