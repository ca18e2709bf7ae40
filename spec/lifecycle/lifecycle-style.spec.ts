import { expect } from 'chai';
import pick from 'lodash/pick.js';
import { ensureCrd } from '../../lib/client/index.js';
import { defineResource, s } from '../../lib/crd/index.js';
import type { ObjectOf } from '../../lib/crd/index.js';
import type { ObjectEvent } from '../../lib/events/index.js';
import {
  CallbackDispatcher,
  lifecycle,
  lifecycleStatusProperties,
} from '../../lib/lifecycle/index.js';
import type { LifecycleOptions } from '../../lib/lifecycle/index.js';
import { ConfigMap, Event, keyOf } from '../../lib/object/index.js';
import { Operator } from '../../lib/operator/index.js';
import { errorMessage } from '../../lib/system/as-error.js';
import { silentLogger } from '../../lib/system/logger.js';
import { VirtualClock } from '../../lib/system/virtual-clock.js';
import { embeddedTarget } from '../builder/suite/embedded-target.js';
import type { BuilderTarget } from '../builder/suite/target.js';
import { configMap } from './suite/system.js';

const ShopConfig = defineResource({
  ...{ group: 'style.example.com', kind: 'ShopConfig' },
  versions: [
    {
      name: 'v1',
      schema: s.object({
        spec: s.object({ kept: s.optional(s.object(lifecycleStatusProperties)) }),
      }),
      status: s.object(lifecycleStatusProperties),
    },
  ],
});
type ShopConfig = ObjectOf<typeof ShopConfig>;

/** A kind whose status schema lacks `targetVersion` and `observedVersion`. */
const PoorConfig = defineResource({
  ...{ group: 'style.example.com', kind: 'PoorConfig' },
  versions: [
    {
      name: 'v1',
      schema: s.object({ spec: s.unknownObject() }),
      status: s.object(pick(lifecycleStatusProperties, ['phase', 'conditions', 'operatorVersion'])),
    },
  ],
});

describe('An Operator with a lifecycle resource', () => {
  let target: BuilderTarget;
  const ending: (() => Promise<void>)[] = [];
  before(async () => {
    target = await embeddedTarget();
    await ensureCrd(target.admin, ShopConfig.crd, {});
  });
  afterEach(async () => {
    for (const end of ending.splice(0)) await end();
  });
  after(() => target.close());

  /** Runs an operator with these options until it has created its ConfigMap. */
  async function deployed(options: Partial<LifecycleOptions<ShopConfig>>): Promise<ShopConfig> {
    const { client } = await target.operator();
    const namespace = await target.namespace();
    const operator = new Operator('shop-operator');
    const resources = () => [configMap(namespace)];
    operator
      .for(ShopConfig)
      .owns(ConfigMap)
      .uses(lifecycle<ShopConfig>({ version: '1.0.0', resources, ...options }));
    const stop = new AbortController();
    const running = operator.run({
      ...{ client, clock: target.clock, logger: silentLogger, rbacPreflight: 'off' },
      ...{ signal: stop.signal, cacheOptions: { namespaces: [namespace] } },
    });
    ending.push(async () => {
      stop.abort();
      await running;
    });
    const metadata = { name: 'shop', namespace };
    await target.admin.create(ShopConfig.object({ metadata, spec: {} }));
    return target.eventually(async () => {
      await target.admin.get(ConfigMap, { name: 'settings', namespace });
      const config = await target.admin.get(ShopConfig, metadata);
      const { phase } = config.status ?? config.spec.kept ?? {};
      expect(phase).to.equal('Deployed');
      return config;
    });
  }

  for (const [what, options, finalizer] of [
    ['the kind by default', {}, 'shopconfig.style.example.com/lifecycle'],
    ['the kind if undefined', { finalizer: undefined }, 'shopconfig.style.example.com/lifecycle'],
    ['an option', { finalizer: 'example.com/shop' }, 'example.com/shop'],
  ] as const) {
    it(`names its finalizer after ${what}`, async () => {
      const { metadata } = await deployed(options);
      expect(metadata.finalizers).to.deep.equal([finalizer]);
    });
  }

  for (const [what, env, options, namespace] of [
    ["the Pod's", 'operators', {}, 'operators'],
    ['default, outside of a Pod', undefined, {}, 'default'],
    ['the one of its options', 'operators', { namespace: 'others' }, 'others'],
  ] as const) {
    it(`passes the namespace of the operator to callbacks: ${what}`, async () => {
      const { POD_NAMESPACE: before } = process.env;
      const setNamespace = (value: string | undefined): void => {
        if (value === undefined) delete process.env['POD_NAMESPACE'];
        else process.env['POD_NAMESPACE'] = value;
      };
      ending.push(async () => {
        setNamespace(before);
        return Promise.resolve();
      });
      setNamespace(env);
      const told = new Set<string>();
      const dispatcher = new CallbackDispatcher<ShopConfig>();
      dispatcher.addCallback(null, (args) => void told.add(args.namespace));
      await deployed({ dispatcher, ...options });
      expect([...told]).to.deep.equal([namespace]);
    });
  }

  it('passes each Event to onEvent before it records the Event', async () => {
    const events: ObjectEvent[] = [];
    const { metadata } = await deployed({ onEvent: (event) => void events.push(event) });
    const { namespace = '' } = metadata;
    const reasons = ['DeployStarted', 'CreateResourceSuccess', 'DeployCompleted'];
    expect(events.map(({ reason }) => reason)).to.deep.equal(reasons);
    await target.eventually(async () => {
      if (target.clock instanceof VirtualClock) await target.clock.advance(1_000);
      const { items } = await target.admin.list(Event, { namespace });
      expect(items.map(({ reason }) => reason)).to.have.members(reasons);
    });
  });

  for (const [version, got] of [
    ['', 'an empty one'],
    [undefined, 'undefined'],
    [1.2, 'number'],
  ] as const) {
    it(`refuses a version that is not a text before it starts, got ${got}`, () => {
      const options = { resources: () => [], version: version as string };
      expect(() => lifecycle<ShopConfig>(options))
        .to.throw(`lifecycle: version: want a text, the version of the deployed system, got ${got}`)
        .with.property('code', 'InvalidOption');
    });
  }

  it('refuses an option resources that is not a function before it starts', () => {
    const options = { version: '1.0.0', resources: [] } as object as LifecycleOptions<ShopConfig>;
    expect(() => lifecycle<ShopConfig>(options))
      .to.throw('lifecycle: resources: want a function, got object')
      .with.property('code', 'InvalidOption');
  });

  it('names the option resources in the problems of the desired objects that it returned', async () => {
    const [events, broken] = [[] as ObjectEvent[], { value: false }];
    const namespaceOf = ({ metadata: { namespace = '' } }: ShopConfig): string => namespace;
    const config = await deployed({
      onEvent: (event) => void events.push(event),
      resources: (one) => (broken.value ? ([null] as never) : [configMap(namespaceOf(one))]),
    });
    broken.value = true;
    const body = { metadata: { labels: { changed: 'true' } } };
    await target.admin.patch(ShopConfig, keyOf(config), { type: 'merge', body });
    await target.eventually(async () => {
      const notes = events.map(({ note }) => note);
      expect(notes).to.include('resources: object 1 is null');
      return Promise.resolve();
    });
  });

  it('refuses a kind whose status schema lacks the fields that a lifecycle writes, and names them', async () => {
    await ensureCrd(target.admin, PoorConfig.crd, {});
    const { client } = await target.operator();
    const namespace = await target.namespace();
    const operator = new Operator('poor-operator');
    const resources = () => [configMap(namespace)];
    operator
      .for(PoorConfig)
      .owns(ConfigMap)
      .uses(lifecycle<ShopConfig>({ version: '1.0.0', resources }));
    const [stop, failures] = [new AbortController(), [] as string[]];
    const running = operator.run({
      ...{ client, clock: target.clock, logger: silentLogger, rbacPreflight: 'off' },
      ...{ signal: stop.signal, cacheOptions: { namespaces: [namespace] } },
      onEvent: (event) => {
        if (event.type !== 'reconciled' || event.error === undefined) return;
        failures.push(`${event.outcome}: ${errorMessage(event.error)}`);
      },
    });
    ending.push(async () => {
      stop.abort();
      await running;
    });
    await target.admin.create(
      PoorConfig.object({ metadata: { name: 'shop', namespace }, spec: {} }),
    );
    await target.eventually(async () => {
      expect(failures.join()).to.match(/^terminal: .*status\.targetVersion: not in the schema/);
    });
  });

  it('reads and writes the status with the functions status and withStatus, and calls isCreating', async () => {
    const asked: unknown[] = [];
    const { spec, status } = await deployed({
      subresourceEnabled: false,
      status: ({ spec: { kept } }) => kept,
      withStatus: (config, kept) => ({ ...config, spec: { kept } }) as ShopConfig,
      isCreating: ({ spec: { kept } }) => {
        asked.push(kept?.phase);
        return kept?.operatorVersion === undefined;
      },
    });
    expect(status).to.equal(undefined);
    expect(spec.kept).to.include({ phase: 'Deployed', observedVersion: '1.0.0' });
    expect(asked).to.include('Deploying');
  });
});
