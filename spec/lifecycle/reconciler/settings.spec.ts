import { expect } from 'chai';
import { EmbeddedCluster } from '../../../lib/apiserver/index.js';
import { CallbackDispatcher, LifecycleReconciler } from '../../../lib/lifecycle/index.js';
import { Deployment, Event } from '../../../lib/object/kinds.js';
import { VirtualClock } from '../../../lib/system/virtual-clock.js';
import { SampleConfig } from '../suite/stage.js';
import type { Config, Options } from '../suite/stage.js';

describe('LifecycleReconciler options', () => {
  let cluster: EmbeddedCluster<VirtualClock>;
  before(async () => (cluster = await EmbeddedCluster.start({ clock: new VirtualClock() })));
  after(() => cluster.stop());

  const crManager = {
    type: SampleConfig,
    getAllResources: () => [],
    getDependantResourceTypes: () => [],
  };
  const make = (options: Options): LifecycleReconciler<Config> =>
    new LifecycleReconciler<Config>({
      ...{ client: cluster.client(), namespace: 'x', recorder: { record: () => undefined } },
      ...{ crManager, ...options },
    });

  const wrong: Record<string, [Options, RegExp]> = {
    'an invalid createVersionLabel': [{ createVersionLabel: 'a b' }, /createVersionLabel a b/],
    'an invalid updateVersionLabel': [{ updateVersionLabel: '' }, /updateVersionLabel/],
    'an invalid lastAppliedAnnotation': [{ lastAppliedAnnotation: '/' }, /lastAppliedAnnotation/],
    'an invalid legacy finalizer': [{ legacyFinalizers: ['x/y/z'] }, /legacyFinalizers x\/y\/z/],
    'an invalid pause annotation': [
      { pauseAnnotations: { 'a b': 'true' } },
      /pauseAnnotations a b/,
    ],
    'an invalid finalizer': [{ finalizer: 'x/y/z' }, /finalizer/],
    'an interval of 0': [
      { perishablesSyncIntervalMs: 0 },
      /perishablesSyncIntervalMs 0: want more than 0/,
    ],
    'an interval of NaN': [{ perishablesSyncIntervalMs: NaN }, /perishablesSyncIntervalMs NaN/],
    'a negative callback timeout': [
      { callbackTimeoutMs: -1 },
      /callbackTimeoutMs -1: want more than 0/,
    ],
    'an invalid namespace': [{ namespace: 'A' }, /namespace/],
    'a status without withStatus': [
      { crManager: { ...crManager, status: () => undefined } },
      /status, and no withStatus/,
    ],
  };
  for (const [name, [options, message]] of Object.entries(wrong)) {
    it(`rejects ${name}`, () => {
      expect(() => make(options))
        .to.throw(message)
        .with.property('code', 'InvalidOption');
    });
  }

  it('list the permissions that the reconciler needs', () => {
    const getDependantResourceTypes = () => [Deployment];
    const watch = ['get', 'list', 'watch'];
    for (const [subresourceEnabled, subresource] of [
      [true, { subresource: 'status' }],
      [false, {}],
    ] as const) {
      const { requires } = make({
        crManager: { ...crManager, getDependantResourceTypes },
        subresourceEnabled,
      });
      expect(requires).to.deep.equal([
        { type: SampleConfig, verbs: [...watch, 'patch'] },
        { type: SampleConfig, verbs: ['patch'], ...subresource },
        { type: Deployment, verbs: [...watch, 'create', 'update', 'delete'] },
        { type: Event, verbs: ['create', 'patch'] },
      ]);
    }
  });

  const lacking: Record<string, [object, string]> = {
    'empty options': [{}, 'crManager, client, recorder, namespace: missing'],
    'no methods': [
      { crManager: { type: SampleConfig } },
      'no method getAllResources, getDependant',
    ],
    'no kind': [{ crManager: { ...crManager, type: undefined } }, 'crManager: no type'],
  };
  for (const [name, [given, message]] of Object.entries(lacking)) {
    it(`rejects ${name}, which only plain JavaScript can pass`, () => {
      const rest = {
        client: cluster.client(),
        namespace: 'x',
        recorder: { record: () => undefined },
      };
      const options = Object.keys(given).length === 0 ? given : { ...rest, ...given };
      const construct = (): unknown => Reflect.construct(LifecycleReconciler, [options]);
      expect(construct).to.throw(message).with.property('code', 'InvalidOption');
    });
  }

  it('take the kind from the CrManager, and accept any dispatcher', () => {
    const recorder = { record: () => undefined };
    const options = { client: cluster.client(), namespace: 'x', recorder, crManager };
    const reconciler: LifecycleReconciler<Config> = new LifecycleReconciler({
      ...{ ...options, dispatcher: new CallbackDispatcher() },
      preCreateHook: async ({ spec }) => {
        expect(spec?.['size']).to.equal(undefined);
      },
    });
    expect(reconciler.ownedKinds.name).to.equal('owned kinds');
  });

  it('treat undefined as the default', () => {
    make({ createVersionLabel: undefined, callbackTimeoutMs: undefined, dispatcher: undefined });
  });
});
