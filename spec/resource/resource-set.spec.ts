import { expect } from 'chai';
import {
  defaultResourceSetResourceFunc,
  ResourceRouter,
  ResourceSet,
} from '../../lib/resource/resource-set.js';
import { isExecutionFailed, isInvalidConfig, isNoResourceSet } from '../../lib/resource/errors.js';
import type { ResourceSetOptions } from '../../lib/resource/resource-set.js';
import type { KubernetesObject } from '../../lib/object/kubernetes-object.js';
import { Notes, newPass, tenant } from './chain-setup.js';

const resource = new Notes().plain('r');

function setOf(name: string, handles: (object: KubernetesObject) => boolean): ResourceSet {
  return new ResourceSet({ name, handles, resources: [resource] });
}

describe('ResourceSet', () => {
  const good: ResourceSetOptions<KubernetesObject> = {
    ...{ name: 'v1', handles: () => true, resources: [resource] },
  };
  const ensureCreated = async (): Promise<void> => undefined;
  const bad: readonly [title: string, options: object, message: string][] = [
    ['no name', { name: undefined }, 'ResourceSet: its name is missing'],
    ['an empty name', { name: '' }, 'ResourceSet: its name is missing'],
    ['no handles', { handles: undefined }, 'ResourceSet v1: handles: want a function'],
    ['an invalid initContext', { initContext: {} }, 'ResourceSet v1: initContext: '],
    ['no list of resources', { resources: undefined }, 'ResourceSet v1: resources: want an array'],
    ['no resources', { resources: [] }, 'ResourceSet v1: no resources: want at least one'],
    [
      'two resources of the same name',
      { resources: [resource, resource] },
      'v1: more than one resource is named r',
    ],
    ['a resource without a name', { resources: [{ ...resource, name: '' }] }, 'v1: resources[0]: '],
    [
      'a resource without methods',
      { resources: [{ name: 'r' }] },
      'no method ensureCreated, ensureDeleted',
    ],
    [
      'an incomplete resource',
      { resources: [{ name: 'r', ensureCreated }] },
      'no method ensureDeleted',
    ],
  ];
  for (const [title, options, message] of bad) {
    it(`rejects ${title}`, () => {
      expect(() => new ResourceSet({ ...good, ...options }))
        .to.throw(message)
        .that.satisfies(isInvalidConfig);
    });
  }

  it('keeps its resources when the caller changes the list that it passed', () => {
    const resources = [resource];
    const set = new ResourceSet({ ...good, resources });
    resources.pop();
    expect(set.resources).to.deep.equal([resource]);
    expect(set.resources).to.be.frozen;
  });

  it('passes the object to handles, and the context to initContext', async () => {
    const seen: unknown[] = [];
    const set = new ResourceSet({
      ...good,
      handles: (object) => seen.push(object) > 1,
      initContext: (context, object) => void seen.push(context, object),
    });
    expect([set.handles(tenant), set.handles(tenant)]).to.deep.equal([false, true]);
    const context = newPass();
    await set.initContext(context, tenant);
    expect(seen).to.deep.equal([tenant, tenant, context, tenant]);
  });

  it('throws an error that names the set and the object when handles throws', () => {
    const cause = new TypeError('spec is undefined');
    const set = setOf('v1', () => {
      throw cause;
    });
    const { message } = { message: 'Tenant shop/acme: set v1, handles: spec is undefined' };
    expect(() => set.handles(tenant))
      .to.throw(message)
      .that.satisfies(isExecutionFailed)
      .and.has.property('cause', cause);
  });

  it('rejects an async function as handles, since a promise is always truthy', () => {
    const set = setOf('v1', (async () => false) as unknown as () => boolean);
    expect(() => set.handles(tenant)).to.throw('set v1, handles: want a boolean, got a promise');
  });
});

describe('ResourceRouter', () => {
  const ofTenants = setOf('v1', ({ kind }) => kind === 'Tenant');
  const ofNobody = setOf('v2', () => false);
  const ofAll = setOf('v3', () => true);

  it('keeps its sets when the caller changes the list that it passed', () => {
    const resourceSets = [ofNobody, ofTenants];
    const router = new ResourceRouter({ resourceSets });
    resourceSets.pop();
    expect(router.resourceSets).to.deep.equal([ofNobody, ofTenants]);
    expect(router.resourceSets).to.be.frozen;
  });

  it('returns the only set that handles the object', () => {
    const router = new ResourceRouter({ resourceSets: [ofNobody, ofTenants] });
    expect(router.resourceSet(tenant)).to.equal(ofTenants);
    expect(router.resourceSetsOf(tenant)).to.deep.equal([ofTenants]);
  });

  it('throws an error with a code of its own when no set handles the object', () => {
    const router = new ResourceRouter({ resourceSets: [ofNobody, ofTenants] });
    expect(() => router.resourceSet({ ...tenant, kind: 'Other' }))
      .to.throw('Other shop/acme: no resource set handles it; the sets are v2, v1')
      .that.satisfies(isNoResourceSet);
  });

  it('names all sets if several handle the object', () => {
    const router = new ResourceRouter({ resourceSets: [ofTenants, ofNobody, ofAll] });
    expect(() => router.resourceSet(tenant))
      .to.throw('Tenant shop/acme: several resource sets handle it: v1, v3; ')
      .that.satisfies(isExecutionFailed);
    expect(router.resourceSetsOf(tenant)).to.deep.equal([ofTenants, ofAll]);
  });

  const bad: readonly [title: string, resourceSets: unknown, message: string][] = [
    ['no list', undefined, 'resourceSets: want an array'],
    ['no sets', [], 'no resource sets: want at least one'],
    ['an entry that is not a set', [ofAll, { name: 'v4' }], 'resourceSets[1]: want a ResourceSet'],
    [
      'two sets of the same name',
      [ofAll, setOf('v3', () => true)],
      'more than one resource set is named v3',
    ],
  ];
  for (const [title, resourceSets, message] of bad) {
    it(`rejects ${title}`, () => {
      expect(() => new ResourceRouter({ resourceSets: resourceSets as ResourceSet[] }))
        .to.throw(`ResourceRouter: ${message}`)
        .that.satisfies(isInvalidConfig);
    });
  }
});

describe('defaultResourceSetResourceFunc', () => {
  it('returns the same list for every object', () => {
    const resources = [resource];
    const resourcesOf = defaultResourceSetResourceFunc(resources);
    expect(resourcesOf(newPass(), tenant)).to.equal(resources);
    expect(resourcesOf(newPass(), { ...tenant, kind: 'Other' })).to.equal(resources);
  });
});
