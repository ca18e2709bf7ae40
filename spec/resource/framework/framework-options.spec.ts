import { expect } from 'chai';
import type { Client } from '../../../lib/client/index.js';
import {
  Framework,
  ResourceRouter,
  ResourceSet,
  isInvalidConfig,
} from '../../../lib/resource/index.js';
import type { FrameworkOptions } from '../../../lib/resource/index.js';
import { crdOf, typeOf } from './suite/gadget.js';
import type { Gadget } from './suite/gadget.js';

const client = { patch: () => undefined } as unknown as Client;
const resource = {
  ...{ name: 'r1', ensureCreated: async () => undefined, ensureDeleted: async () => undefined },
};
const set = new ResourceSet<Gadget>({ name: 'v1', handles: () => true, resources: [resource] });
const good: FrameworkOptions<Gadget> = {
  ...{ name: 'shop', type: typeOf('Gadget'), client },
  resourceRouter: new ResourceRouter({ resourceSets: [set] }),
};

/** Mistakes that only plain JavaScript allows. */
const bad: readonly (readonly [string, object])[] = [
  ['its name is missing', { name: undefined }],
  ['name: ', { name: 'Shop' }],
  ['name: ', { name: '' }],
  ['type: want a ResourceType', { type: undefined }],
  ['resourceRouter: want a ResourceRouter', { resourceRouter: undefined }],
  ['resourceRouter: want a ResourceRouter', { resourceRouter: [set] }],
  ['client: want a Client', { client: undefined }],
  ['crd: it defines frameworks.example.com/v1 Plain, but type is', { crd: crdOf('Plain') }],
  ['crd: it defines other.example.com/v1 Gadget', { crd: crdOf('Gadget', 'other.example.com') }],
  ['informer: want a Source', { informer: {} }],
  ['recorder: want a Recorder', { recorder: {} }],
  ['configure: want a function', { configure: {} }],
  ['backOffFactory: want a function', { backOffFactory: {} }],
  ['finalizerPrefix: ', { finalizerPrefix: 'Not a domain' }],
  ['finalizerPrefix: ', { finalizerPrefix: '' }],
  ['pauseAnnotations a b: ', { pauseAnnotations: { 'a b': 'true' } }],
  ['pauseAnnotations a: want a string', { pauseAnnotations: { a: true } }],
  [
    'pauseAnnotations operator-builder.io/paused: the value that pauses is true',
    { pauseAnnotations: { 'operator-builder.io/paused': 'yes' } },
  ],
  ['resyncPeriodMs 0', { resyncPeriodMs: 0 }],
  ['resyncPeriodMs NaN', { resyncPeriodMs: NaN }],
  ['keptFinalizerRetryMs 0', { keptFinalizerRetryMs: 0 }],
  ['keptFinalizerRetryMs Infinity', { keptFinalizerRetryMs: Infinity }],
  ['maxConcurrentReconciles 0', { controller: { maxConcurrentReconciles: 0 } }],
  ['reconcileTimeoutMs -1', { controller: { reconcileTimeoutMs: -1 } }],
  ['prometheusNamespace my-ns: want letters', { prometheusNamespace: 'my-ns' }],
  ['prometheusSubsystem : want letters', { prometheusSubsystem: '' }],
];

describe('FrameworkOptions', () => {
  it('require a name, a type, a router and a client', () => {
    const framework = new Framework(good);
    expect([framework.name, framework.finalizer, framework.controller.name]).to.deep.equal([
      ...['shop', 'operator-builder.io/shop', 'shop'],
    ]);
  });

  it('name the finalizer by the given prefix', () => {
    const framework = new Framework({ ...good, finalizerPrefix: 'shop.example.com' });
    expect(framework.finalizer).to.equal('shop.example.com/shop');
  });

  it('accept a definition of the type', () => {
    const { runnables } = new Framework({ ...good, crd: crdOf('Gadget') });
    expect(runnables.map(({ name }) => name)).to.include(
      'shop: CustomResourceDefinition gadgets.frameworks.example.com',
    );
  });

  for (const [message, wrong] of bad) {
    it(`are rejected: ${message}`, () => {
      const construct = () => new Framework({ ...good, ...wrong });
      expect(construct).to.throw(message).that.satisfies(isInvalidConfig);
    });
  }
});

describe('Framework.requires', () => {
  const rules = (options: Partial<FrameworkOptions<Gadget>>): string[] =>
    new Framework({ ...good, ...options }).requires.map(
      ({ type, subresource, verbs }) =>
        `${type?.kind}${subresource === undefined ? '' : `/${subresource}`}: ${verbs.join()}`,
    );
  const own = ['Gadget: get,list,watch,patch', 'Gadget/status: patch'];

  it("lists the framework's own requests, and no more", () => {
    expect(rules({})).to.deep.equal([...own, 'Event: create,patch']);
    expect(rules({ recorder: { record: () => undefined } })).to.deep.equal(own);
    expect(rules({ crd: crdOf('Gadget') })).to.deep.equal([
      ...['CustomResourceDefinition: get,list,watch,create,patch', ...own, 'Event: create,patch'],
    ]);
  });
});
