import { expect } from 'chai';
import { isInvalidConfig, resourceChain, ResourceSet } from '../../lib/resource/index.js';
import { isOperatorError } from '../../lib/system/index.js';
import { Notes } from './chain-setup.js';

describe('resourceChain', () => {
  const resource = new Notes().plain('r');
  const set = new ResourceSet({ name: 'v1', handles: () => true, resources: [resource] });
  const incomplete = { name: 'r', ensureCreated: async () => undefined };

  /** Mistakes that only plain JavaScript allows. */
  const wrong: readonly [title: string, chain: unknown, message: string][] = [
    ['no list', undefined, 'resources: want an array'],
    ['an empty list', [], 'no resources'],
    ['null', [resource, null], 'resources[1]: want a resource'],
    ['an incomplete resource', [incomplete], 'resource r: no method ensureDeleted'],
    ['two resources with the same name', [resource, resource], 'more than one resource is named r'],
    ['resources among sets', [set, resource], 'resource v1: no method ensureCreated'],
  ];
  for (const [title, chain, message] of wrong) {
    it(`rejects ${title}`, () => {
      expect(() => resourceChain(chain as []))
        .to.throw(message)
        .that.satisfies(isInvalidConfig);
    });
  }

  const isInvalidOption = (error: unknown): boolean => isOperatorError(error, 'InvalidOption');

  for (const options of [
    { initContext: () => undefined },
    { deletionOrder: 'creation' },
  ] as const) {
    const [option = ''] = Object.keys(options);
    it(`rejects the option ${option} together with resource sets, which have such options themselves`, () => {
      expect(() => resourceChain([resource], options)).not.to.throw();
      expect(() => resourceChain([set], options))
        .to.throw(`"${option}"; give it to each ResourceSet`)
        .that.satisfies(isInvalidOption);
    });
  }

  it('throws at once for unknown options', () => {
    const options = { resyncPeriod: 1 } as object;
    expect(() => resourceChain([resource], options))
      .to.throw('did you mean "resyncPeriodMs"')
      .that.satisfies(isInvalidOption);
  });
});
