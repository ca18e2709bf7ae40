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
  ['Framework: its name is missing', { name: undefined }],
  [
    `Framework Shop: name: "Shop" must be lower case letters, digits and '-', with a letter or digit at both ends`,
    { name: 'Shop' },
  ],
  ['Framework : name: must not be empty', { name: '' }],
  ['type: want a ResourceType, or { apiVersion, kind }', { type: undefined }],
  ['resourceRouter: want a ResourceRouter', { resourceRouter: undefined }],
  ['resourceRouter: want a ResourceRouter', { resourceRouter: [set] }],
  ['client: want a Client', { client: undefined }],
  [
    'crd: it defines frameworks.example.com/v1 Plain, but type is frameworks.example.com/v1 Gadget; pass the CRD of the type',
    { crd: crdOf('Plain') },
  ],
  [
    'crd: it defines other.example.com/v1 Gadget, but type is frameworks.example.com/v1 Gadget; pass the CRD of the type',
    { crd: crdOf('Gadget', 'other.example.com') },
  ],
  ['informer: want a Source', { informer: {} }],
  ['recorder: want a Recorder', { recorder: {} }],
  ['configure: want a function', { configure: {} }],
  ['backOffFactory: want a function', { backOffFactory: {} }],
  [
    `finalizerPrefix: "Not a domain" must be lower case letters, digits, '-' and '.', with a letter or digit at the ends of each part`,
    { finalizerPrefix: 'Not a domain' },
  ],
  ['finalizerPrefix: must not be empty', { finalizerPrefix: '' }],
  [
    `pauseAnnotations a b: "a b" must be letters, digits, '-', '_' and '.', with a letter or digit at both ends`,
    { pauseAnnotations: { 'a b': 'true' } },
  ],
  ['pauseAnnotations a: want a string', { pauseAnnotations: { a: true } }],
  [
    'pauseAnnotations operator-builder.io/paused: the value that pauses is true and cannot be changed',
    { pauseAnnotations: { 'operator-builder.io/paused': 'yes' } },
  ],
  ['resyncPeriodMs 0: want more than 0', { resyncPeriodMs: 0 }],
  ['resyncPeriodMs NaN: want more than 0', { resyncPeriodMs: NaN }],
  ['keptFinalizerRetryMs 0: want a finite number above 0', { keptFinalizerRetryMs: 0 }],
  [
    'keptFinalizerRetryMs Infinity: want a finite number above 0',
    { keptFinalizerRetryMs: Infinity },
  ],
  [
    'controller shop: maxConcurrentReconciles 0: want 1, 2, …',
    { controller: { maxConcurrentReconciles: 0 } },
  ],
  [
    'controller shop: reconcileTimeoutMs -1: want more than 0',
    { controller: { reconcileTimeoutMs: -1 } },
  ],
  ["prometheusNamespace my-ns: want letters, digits and '_'", { prometheusNamespace: 'my-ns' }],
  ["prometheusSubsystem : want letters, digits and '_'", { prometheusSubsystem: '' }],
  ["prometheusNamespace 1a: want letters, digits and '_'", { prometheusNamespace: '1a' }],
  ['readyCondition true: want a string, or false', { readyCondition: true }],
  [
    `readyCondition a b: "a b" must be letters, digits, '-', '_' and '.', with a letter or digit at both ends`,
    { readyCondition: 'a b' },
  ],
  [
    'readyCondition Paused: the framework writes this condition for another purpose; choose another type',
    { readyCondition: 'Paused' },
  ],
  [
    'readyCondition ResourceSetsOverlap: the framework writes this condition for another purpose; choose another type',
    { readyCondition: 'ResourceSetsOverlap' },
  ],
  ['informer: want a Source', { informer: null }],
  ['recorder: want a Recorder', { recorder: 'text' }],
];

function refusalOf(wrong: object): string {
  try {
    new Framework({ ...good, ...wrong });
  } catch (error) {
    if (isInvalidConfig(error)) return (error as Error).message;
    throw error;
  }
  return expect.fail('it is accepted');
}

describe('FrameworkOptions', () => {
  it('accept a name, a type, a router and a client, and require nothing else', () => {
    const framework = new Framework(good);
    expect([framework.name, framework.finalizer, framework.controller.name]).to.deep.equal([
      ...['shop', 'operator-builder.io/shop', 'shop'],
    ]);
  });

  it('begin the name of the finalizer with the given prefix', () => {
    const framework = new Framework({ ...good, finalizerPrefix: 'shop.example.com' });
    expect(framework.finalizer).to.equal('shop.example.com/shop');
  });

  it('accept the CRD of the type', () => {
    const { runnables } = new Framework({ ...good, crd: crdOf('Gadget') });
    expect(runnables.map(({ name }) => name)).to.include(
      'shop: CustomResourceDefinition gadgets.frameworks.example.com',
    );
  });

  for (const [message, wrong] of bad) {
    it(`are rejected: ${message}`, () => {
      expect(refusalOf(wrong).replace(/^Framework shop: /, '')).to.equal(message);
    });
  }

  it('accept any name for the ready condition, and false for no condition', () => {
    for (const readyCondition of ['Ready', 'example.com/Up', false] as const) {
      expect(new Framework({ ...good, readyCondition }).name).to.equal('shop');
    }
  });
});

describe('Framework.requires', () => {
  const rules = (options: Partial<FrameworkOptions<Gadget>>): string[] =>
    new Framework({ ...good, ...options }).requires.map(
      ({ type, subresource, verbs }) =>
        `${type?.kind}${subresource === undefined ? '' : `/${subresource}`}: ${verbs.join()}`,
    );
  const own = ['Gadget: get,list,watch,patch', 'Gadget/status: patch'];

  it("contains exactly the permissions for the framework's own requests", () => {
    expect(rules({})).to.deep.equal([...own, 'Event: create,patch']);
    expect(rules({ recorder: { record: () => undefined } })).to.deep.equal(own);
    expect(rules({ crd: crdOf('Gadget') })).to.deep.equal([
      ...['CustomResourceDefinition: get,list,watch,create,patch', ...own, 'Event: create,patch'],
    ]);
  });
});
