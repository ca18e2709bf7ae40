import { expect } from 'chai';
import { Group } from '../../../lib/declarative/operator/index.js';
import type { OperatorInput } from '../../../lib/declarative/operator/index.js';
import { ControllerScene, configMap, sameName } from './controller-scene.js';

const Secrets = { apiVersion: 'v1', kind: 'Secret' };
const metadata = { metadata: sameName };

/** Makes a view Wanted of each ConfigMap of the label. */
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

/** Passes Wanted on to another view, and that to Secrets. */
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

describe('What was written through views before a restart', () => {
  let scene: ControllerScene;
  let over: AbortController;
  let running: Promise<void>;
  afterEach(async () => {
    over.abort();
    await scene.during(running);
    await scene.end();
  });

  /** Runs an operator in a process of its own. */
  async function run(one: ControllerScene, input: OperatorInput): Promise<Group> {
    const group = new Group({ manager: one.manager });
    await group.addOperator('op', input);
    over = new AbortController();
    running = group.start(over.signal);
    return group;
  }

  /** The first process writes, and ends. */
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
    ['whose pipeline is wrong', { ...produces, pipeline: [{ '@sellect': true }] }],
    ['whose form is wrong', { ...produces, target: { kind: 'Wanted', type: 'Pather' } }],
    ['whose target can not be read', { ...produces, target: {} }],
    [
      'whose source is not served',
      { ...produces, sources: [{ apiGroup: 'ex.com', kind: 'Widget' }] },
    ],
    [
      'whose source may come later',
      { ...produces, sources: [{ apiGroup: 'ex.com', version: 'v1', kind: 'Widget' }] },
    ],
    [
      'that reads what its readers write',
      { ...produces, pipeline: [{ '@sellect': true }], sources: [{ kind: 'Passed' }] },
    ],
  ] as const) {
    it(`stays when the new one has a producer ${what}: its readers wait, and name it`, async () => {
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
      // Mended, it says what is wanted: nothing now.
      await scene.delete(configMap('a'));
      await group.upsertOperator('op', operator(produces, passes, writes));
      await scene.eventually(async () => expect(await scene.names(Secrets)).to.deep.equal([]));
    });
  }

  it('stays when the specification can not be read at all, for readers of other operators', async () => {
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
