import { expect } from 'chai';
import { Group } from '../../../lib/declarative/operator/index.js';
import type { OperatorInput } from '../../../lib/declarative/operator/index.js';
import { ControllerScene, configMap, sameName } from './controller-scene.js';

const Secrets = { apiVersion: 'v1', kind: 'Secret' };
const metadata = { metadata: sameName };

/** A controller that writes a view Wanted for each ConfigMap with the label. */
const produces = {
  name: 'produces',
  sources: [
    {
      apiGroup: '',
      version: 'v1',
      kind: 'ConfigMap',
      labelSelector: { matchLabels: { on: 'yes' } },
    },
  ],
  pipeline: [{ '@project': metadata }] as unknown,
  target: { kind: 'Wanted' } as object,
};

/** Controllers that copy Wanted to another view, and that view to Secrets. */
const passes = {
  ...produces,
  name: 'passes',
  sources: [{ kind: 'Wanted' }],
  target: { kind: 'Passed' },
};
const writes = {
  ...{ ...produces, name: 'writes', sources: [{ kind: 'Passed' }] },
  target: { apiGroup: '', version: 'v1', kind: 'Secret' },
};

const operator = (...controllers: object[]): OperatorInput => ({ controllers }) as OperatorInput;

describe('A Secret that was computed from views and written before a restart', () => {
  let scene: ControllerScene;
  let over: AbortController;
  let running: Promise<void>;
  afterEach(async () => {
    over.abort();
    await scene.during(running);
    await scene.end();
  });

  /** Runs an operator in its own process. */
  async function run(one: ControllerScene, input: OperatorInput): Promise<Group> {
    const group = new Group({ manager: one.manager });
    await group.addOperator('op', input);
    over = new AbortController();
    running = group.start(over.signal);
    return group;
  }

  /** Runs a first process until it has written the Secret. */
  async function written(): Promise<void> {
    scene = await ControllerScene.start();
    await scene.put(configMap('a', {}, { labels: { on: 'yes' } }));
    await run(scene, operator(produces, passes, writes));
    await scene.eventually(async () => expect(await scene.names(Secrets)).to.deep.equal(['a']));
    over.abort();
    await scene.during(running);
    scene = await ControllerScene.on(scene.base);
  }

  for (const [what, unable] of [
    ['has an invalid pipeline', { ...produces, pipeline: [{ '@sellect': true }] }],
    ['has an invalid field', { ...produces, target: { kind: 'Wanted', type: 'Pather' } }],
    ['has an unreadable target', { ...produces, target: {} }],
    ['has an unserved source', { ...produces, sources: [{ apiGroup: 'ex.com', kind: 'Widget' }] }],
    [
      'has a source whose kind may be served later',
      { ...produces, sources: [{ apiGroup: 'ex.com', version: 'v1', kind: 'Widget' }] },
    ],
    [
      'reads what its readers write',
      { ...produces, pipeline: [{ '@sellect': true }], sources: [{ kind: 'Passed' }] },
    ],
  ] as const) {
    it(`is kept while the controller that writes the views ${what}, and controllers that read them report that they wait for it`, async () => {
      await written();
      const group = await run(scene, operator(unable, passes, writes));
      const messages = (): (string | undefined)[] =>
        group
          .getOperator('op')
          ?.getStatus()
          .controllers.slice(1)
          .map(({ conditions }) => {
            const [{ status, reason, message } = {}] = conditions ?? [];
            return `${status} ${reason}: ${message}`;
          }) ?? [];
      await scene.eventually(() => {
        for (const message of messages()) {
          expect(message).to.match(
            /^Unknown Waiting: waits for op\/produces, which fills op\.view\./,
          );
        }
      });
      await scene.base.clock.advance(120_000);
      expect(await scene.names(Secrets)).to.deep.equal(['a']);
      // Without the ConfigMap, the repaired producer has no desired objects.
      await scene.delete(configMap('a'));
      await group.upsertOperator('op', operator(produces, passes, writes));
      await scene.eventually(async () => expect(await scene.names(Secrets)).to.deep.equal([]));
    });
  }

  it('is kept while the specification of another operator cannot be read', async () => {
    await written();
    const group = new Group({ manager: scene.manager });
    const source = { apiGroup: 'broken.view.dcontroller.io', kind: 'Passed' };
    await group.addOperator('broken', { controlers: [] } as never);
    await group.addOperator('op', operator({ ...writes, sources: [source] }));
    over = new AbortController();
    running = group.start(over.signal);
    await scene.base.clock.advance(60_000);
    expect(await scene.names(Secrets)).to.deep.equal(['a']);
    const [ready] = group.getOperator('op')?.getStatus().controllers[0]?.conditions ?? [];
    expect(ready?.message).to.include('waits for broken/(specification)');
    await group.deleteOperator('broken');
    await scene.eventually(async () => expect(await scene.names(Secrets)).to.deep.equal([]));
  });
});
