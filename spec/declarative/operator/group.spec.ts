import { expect } from 'chai';
import { Group } from '../../../lib/declarative/operator/index.js';
import { DeclarativeManager } from '../../../lib/declarative/views/index.js';
import type { Views } from '../../../lib/declarative/views/index.js';
import { errorMessage } from '../../../lib/system/as-error.js';
import { testCluster } from '../../../lib/testing/index.js';
import { embeddedTarget } from '../../builder/suite/embedded-target.js';
import { viewOf } from './group-scene.js';
import { groupSuite } from './group-suite.js';

describe('A group of operators on the embedded server', () => groupSuite(embeddedTarget));

describe('A group of operators', () => {
  const cluster = testCluster();
  const spec = { controllers: [viewOf('Price', 'default')] };
  let manager: DeclarativeManager;
  beforeEach(async () => {
    const client = cluster().client();
    manager = await DeclarativeManager.create({ client, clock: cluster().clock });
  });
  afterEach(() => manager.stop());

  it('serves its views by the given API server, and by the server of setApiServer after that call', async () => {
    const attached: string[] = [];
    const server = (name: string) => ({
      attach: (views: Views) => attached.push(`${name} ${views === manager.views}`),
    });
    const group = new Group({ manager, apiServer: server('one') });
    expect(attached.splice(0)).to.deep.equal(['one true']);
    await group.addOperator('a', spec);
    expect(attached.splice(0)).to.deep.equal(['one true']);
    group.setApiServer(server('two'));
    expect(attached.splice(0)).to.deep.equal(['two true', 'two true']);
    await group.addOperator('b', spec);
    expect(attached.splice(0)).to.deep.equal(['two true']);
    group.setApiServer(undefined);
    await group.addOperator('c', spec);
    expect(attached).to.deep.equal([]);
  });

  it('lists its operators in the order in which they were added, and returns the client that they use', async () => {
    const group = new Group({ manager });
    const added = [await group.addOperator('b', spec), await group.addOperator('a', spec)];
    expect(group.listOperators()).to.deep.equal(added);
    expect([group.getOperator('a'), group.getOperator('c')]).to.deep.equal([added[1], undefined]);
    expect(group.getClient()).to.equal(manager.liveClient);
    await group.deleteOperator('b');
    expect(group.listOperators()).to.deep.equal([added[1]]);
  });

  it('calls its listener with each operator whose status may have changed, until the listener is removed', async () => {
    const group = new Group({ manager });
    const told: string[] = [];
    const stop = group.listen((name) => void told.push(name));
    await group.addOperator('a', spec);
    await group.addOperator('b', spec);
    told.splice(0);
    await group.upsertOperator('b', { controllers: [viewOf('Stock', 'default')] });
    expect(new Set(told.splice(0))).to.deep.equal(new Set(['b']));
    stop();
    await group.upsertOperator('b', spec);
    expect(told).to.deep.equal([]);
  });

  it('refuses an operator after it has ended, and a second start', async () => {
    const group = new Group({ manager });
    const end = new AbortController();
    end.abort();
    await group.start(end.signal).catch(() => undefined);
    const refusals = [group.addOperator('a', spec), group.start(end.signal)];
    expect(
      await Promise.all(refusals.map((each) => each.then(() => 'fine', errorMessage))),
    ).to.deep.equal([
      'add operator a: the group has ended',
      'group: it was started before; make a new one',
    ]);
    expect(group.getOperator('a')).to.equal(undefined);
  });
});
