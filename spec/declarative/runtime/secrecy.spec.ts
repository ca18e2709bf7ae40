import { inspect } from 'node:util';
import { expect } from 'chai';
import { Group } from '../../../lib/declarative/operator/index.js';
import type { ReportedError } from '../../../lib/declarative/runtime/reported-errors.js';
import { ControllerScene, sameName, views } from './controller-scene.js';
import type { Thing } from './controller-scene.js';

/** A password of which no part may appear. */
const password = 'xyzzy/stno1';

const encoded = Buffer.from(password).toString('base64');

const secret: Thing = {
  ...{ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a', namespace: 'default' } },
  data: { password: encoded },
};

/** A controller that copies secret data from a source to a view. */
function passedOn(name: string, source: object, kind: string) {
  const metadata = sameName;
  const pipeline = [{ '@project': { metadata, data: '$.data' } }];
  return { name, sources: [source], pipeline, target: { kind } };
}

/** Controllers that fail because of the value: in a stage, in the name of the result, and on the server. */
function failing(source: object) {
  const projected = (metadata: object, data: object) => [{ '@project': { metadata, ...data } }];
  const configMaps = { apiGroup: '', version: 'v1', kind: 'ConfigMap' };
  const one = { sources: [source] };
  return [
    { ...one, name: 'sum', target: { kind: 'Sum' } },
    { ...one, name: 'named', target: { kind: 'Named' } },
    { ...one, name: 'refused', target: configMaps },
  ].map((each, place) => ({
    ...each,
    pipeline: [
      projected(sameName, { sum: { '@add': ['$.data.password', 1] } }),
      projected({ ...sameName, name: '$.data.password' }, {}),
      projected(sameName, { data: { password: ['$.data.password'] } }),
    ][place],
  }));
}

describe('Values of Secrets', () => {
  let scene: ControllerScene;
  afterEach(async () => scene.end());

  /** Returns all status, logs, events and errors once each controller of `failing` has failed. */
  async function saidBy(group: Group, name: string): Promise<string> {
    const told: ReportedError[] = [];
    const reading = (async () => {
      for await (const error of group.errors) told.push(error);
    })();
    const over = new AbortController();
    const running = group.start(over.signal);
    await scene.eventually(() => {
      const controllers = group.getOperator(name)?.listControllers() ?? [];
      const failed = controllers.filter((one) => one.reportErrors().length > 0);
      expect(failed.map((one) => one.name)).to.deep.equal(['sum', 'named', 'refused']);
    }, 10);
    const status = group.listOperators().map((one) => one.getStatus());
    const errors = group.listOperators().flatMap((one) => one.listControllers());
    const events = await scene.client.list<Thing>({ apiVersion: 'v1', kind: 'Event' });
    const all = [
      ...[status, scene.base.lines, events.items, scene.manager.status()],
      ...errors.map((one) => one.reportErrors()),
    ];
    over.abort();
    await scene.during(running);
    await scene.during(reading);
    return inspect([...all, told], { depth: 20, maxStringLength: 100_000 });
  }

  const secrets = { apiGroup: '', version: 'v1', kind: 'Secret' };

  it('do not appear in failures of controllers that read them through two views', async () => {
    scene = await ControllerScene.start();
    await scene.put(secret);
    const group = new Group({ manager: scene.manager });
    const first = passedOn('first', secrets, 'One');
    const second = passedOn('second', { kind: 'One' }, 'Two');
    await group.addOperator('far', { controllers: [first, second] as never });
    const third = { apiGroup: 'far.view.dcontroller.io', kind: 'Two' };
    await group.addOperator('near', { controllers: failing(third) as never });
    const said = await saidBy(group, 'near');
    expect(said).to.include('near/sum').and.include('a string');
    expect(said).to.not.include('xyz').and.not.include(encoded);
  });

  it("do not appear in failures of readers of another operator's views", async () => {
    scene = await ControllerScene.start();
    await scene.put(secret);
    const group = new Group({ manager: scene.manager });
    const feeds = {
      ...passedOn('first', secrets, 'One'),
      target: { apiGroup: views.split('/')[0], kind: 'One' },
    };
    await group.addOperator('op', { controllers: failing({ kind: 'One' }) as never });
    await group.addOperator('feeder', { controllers: [feeds] as never });
    const said = await saidBy(group, 'op');
    expect(said).to.include('op/sum').and.include('a string');
    expect(said).to.not.include('xyz');
  });

  it('do not appear in failures of the controller that reads the Secrets', async () => {
    scene = await ControllerScene.start();
    await scene.put(secret);
    const group = new Group({ manager: scene.manager });
    await group.addOperator('op', { controllers: failing(secrets) as never });
    expect(await saidBy(group, 'op')).to.not.include('xyz');
  });
});
