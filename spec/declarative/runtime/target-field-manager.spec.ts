import { expect } from 'chai';
import {
  checkCleanUp,
  cleanUpTarget,
  targetFieldManager,
} from '../../../lib/declarative/runtime/clean-up-target.js';
import { errorMessage } from '../../../lib/system/as-error.js';
import { OperatorError } from '../../../lib/system/operator-error.js';
import { seededRandom } from '../../../lib/system/random.js';
import { VirtualClock } from '../../../lib/system/virtual-clock.js';

describe('The field manager of a declarative controller', () => {
  it('has the names of the operator and the controller', () => {
    expect(targetFieldManager('shop', 'web')).to.equal('shop/web');
    expect(targetFieldManager('o'.repeat(63), 'c'.repeat(64))).to.have.length(128);
  });

  it('is shortened to the length that the server allows, and remains unique', () => {
    const names = ['a', 'b'].map((end) => targetFieldManager('shop', `${'c'.repeat(200)}${end}`));
    expect(names.map((name) => name.length)).to.deep.equal([128, 128]);
    expect(names[0]).not.to.equal(names[1]);
    expect(names[0]).to.match(/^shop\/c+-[0-9a-f]{12}$/);
    expect(targetFieldManager('shop', `${'c'.repeat(200)}a`)).to.equal(names[0]);
  });
});

describe('The clean-up of a target, which deletes what the controller wrote', () => {
  const former = { name: 'copies', target: { kind: 'Copy', type: 'Updater' } } as const;
  const type = { group: 'op.view.dcontroller.io', version: 'v1alpha1', kind: 'Copy' };
  const cleanUp = (
    ensure: () => Promise<unknown>,
    list: () => Promise<unknown>,
  ): Promise<unknown> => {
    const pages = async function* (): AsyncGenerator {
      yield await list();
    };
    const client = { list, pages, resourceType: () => Promise.reject(new Error('no lookup')) };
    const manager = {
      ...{ views: { ensure }, liveClient: client, namespacesOf: () => undefined },
      ...{ clock: new VirtualClock(), random: seededRandom(1) },
    };
    const done = cleanUpTarget(former, { operator: 'op', manager: manager as never });
    return done.then(() => 'done', errorMessage);
  };
  const served = () => Promise.resolve({ ...type, plural: 'copy', namespaced: true });
  const failing = (error: Error) => () => Promise.reject(error);
  const stopped = new OperatorError('Stopped', 'the views were stopped');
  const unknown = new OperatorError('UnknownKind', 'no such kind');

  it('succeeds without a write if the kind is unknown, or if the server of the kind has stopped', async () => {
    for (const error of [stopped, unknown]) {
      const other = failing(new Error('no list'));
      expect(await cleanUp(failing(error), other)).to.equal('done');
      expect(await cleanUp(served, failing(error))).to.equal('done');
    }
  });

  it('fails with the error of the server in all other cases', async () => {
    const broken = failing(new Error('out of memory'));
    expect(await cleanUp(broken, broken)).to.equal('out of memory');
    expect(await cleanUp(served, broken)).to.equal('clean-up of op/copies: out of memory');
  });

  it('accepts only the policies delete and orphan', () => {
    for (const policy of ['delete', 'orphan']) expect(() => checkCleanUp(policy)).not.to.throw();
    expect(() => checkCleanUp('keep'))
      .to.throw('cleanUp: want delete or orphan, got "keep"')
      .with.property('code', 'InvalidOption');
  });
});
