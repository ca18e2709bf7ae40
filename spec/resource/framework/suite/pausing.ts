import { expect } from 'chai';
import { forwarding } from '../../../../lib/client/index.js';
import type { Client } from '../../../../lib/client/index.js';
import { ApiError } from '../../../../lib/object/api-error.js';
import { finalizersOf } from './scene.js';
import type { OpenScene } from './scene.js';
import type { GadgetKind } from './gadget.js';
import { typeOf } from './gadget.js';

const paused = 'operator-builder.io/paused';

/** Declares how paused objects are handled. */
export function pausingSuite(open: OpenScene): void {
  const pausing: readonly Record<string, string>[] = [
    { [paused]: 'true' },
    { 'cluster.x-k8s.io/paused': 'true' },
    { 'example.com/maintenance': 'yes' },
  ];
  for (const annotations of pausing) {
    it(`the framework does not reconcile an object with ${JSON.stringify(annotations)}, and reports the pause`, async () => {
      const scene = await open();
      await scene.create('a', { metadata: { annotations } });
      scene.run({ pauseAnnotations: { 'example.com/maintenance': 'yes' } });
      await scene.until(async () => (await scene.condition('a', 'Paused'))?.status === 'True');
      const [[key, value] = []] = Object.entries(annotations);
      const by = `annotation ${key}: "${value}"`;
      expect((await scene.condition('a', 'Paused'))?.message).to.equal(by);
      await scene.calm();
      expect(scene.calls).to.deep.equal([]);
      expect(scene.recorded()).to.deep.equal([
        `Normal Paused: ${by} pauses it: nothing is reconciled`,
      ]);
      expect(finalizersOf(await scene.get('a'))).to.deep.equal([]);
    });
  }

  const running: readonly (Record<string, string> | undefined)[] = [
    ...[undefined, {}, { [paused]: '' }, { [paused]: 'false' }, { [paused]: 'True' }],
    ...[
      { [paused]: '1' },
      { 'cluster.x-k8s.io/paused': 'yes' },
      { 'example.com/maintenance': 'no' },
    ],
  ];
  it('the framework reconciles objects whose pause annotations are absent, empty, "false" or anything other than "true"', async () => {
    const scene = await open();
    for (const [index, annotations] of running.entries()) {
      await scene.create(`a${index}`, {
        metadata: annotations === undefined ? {} : { annotations },
      });
    }
    scene.run({ pauseAnnotations: { 'example.com/maintenance': 'yes' } });
    const all = running.map((_, index) => `r1 created a${index}`);
    await scene.until(() => all.every((call) => scene.calls.includes(call)));
    expect(scene.recorded()).to.deep.equal([]);
    expect(await scene.condition('a0', 'Paused')).to.equal(undefined);
  });

  it('the framework reports a pause only by an Event when the server rejects the condition', async () => {
    const scene = await open();
    const { client } = scene.operator;
    let refused = 0;
    const patch: Client['patch'] = (type, key, body, options) => {
      if (options?.subresource !== 'status') return client.patch(type, key, body, options);
      refused++;
      const message = 'status.conditions[0].type: Unsupported value';
      const status = { status: 'Failure', reason: 'Invalid', message, code: 422 } as const;
      const { kind } = type;
      throw new ApiError(status, { verb: 'patch', kind, name: key.name, status: 422 });
    };
    await scene.create('a', { metadata: { annotations: { [paused]: 'true' } } });
    scene.run({ client: { ...forwarding(client), patch } });
    await scene.until(() => scene.events.length > 0);
    await scene.annotate('a', { touched: 'yes' });
    await scene.calm();
    expect([refused, scene.recorded().length]).to.deep.equal([1, 1]);
    expect(scene.lines.filter((line) => line.startsWith('warn'))).to.have.length(1);
    await scene.annotate('a', { [paused]: null });
    await scene.until(() => scene.calls.includes('r1 created a'));
  });

  it('the framework resumes a paused object when the annotation is removed, and reports that it resumes', async () => {
    const scene = await open();
    await scene.create('a', { metadata: { annotations: { [paused]: 'true' } } });
    const frozen: boolean[] = [];
    const r1 = scene.resource('r1', {
      created: (_, object) => void frozen.push(Object.isFrozen(object.metadata)),
    });
    scene.run({ resources: [r1] });
    await scene.until(async () => (await scene.condition('a', 'Paused'))?.status === 'True');
    await scene.annotate('a', { [paused]: 'false' });
    await scene.until(() => scene.calls.includes('r1 created a'));
    expect((await scene.condition('a', 'Paused'))?.status).to.equal('False');
    expect(scene.recorded().at(-1)).to.match(/^Normal Resumed: /);
    await scene.annotate('a', { [paused]: 'true' });
    await scene.until(async () => (await scene.condition('a', 'Paused'))?.status === 'True');
    await scene.calm();
    expect(scene.events.map(({ reason }) => reason)).to.deep.equal(['Paused', 'Resumed', 'Paused']);
    const before = frozen.length;
    await scene.annotate('a', { [paused]: 'false' });
    await scene.until(() => frozen.length > before);
    expect(frozen).not.to.include(false);
  });

  it('the framework delays the deletion of a paused object too, and reports the delay', async () => {
    const scene = await open();
    scene.run();
    await scene.create('a');
    await scene.until(() => scene.calls.includes('r1 created a'));
    await scene.annotate('a', { [paused]: 'true' });
    await scene.until(async () => (await scene.condition('a', 'Paused'))?.status === 'True');
    await scene.delete('a');
    const says = async (): Promise<boolean> =>
      (await scene.condition('a', 'Paused'))?.message.includes('its deletion waits') === true;
    await scene.until(says);
    await scene.calm();
    expect(scene.calls).not.to.include('r1 deleted a');
    expect(scene.events.map(({ reason }) => reason)).to.deep.equal(['Paused']);
    await scene.annotate('a', { [paused]: null });
    await scene.until(() => scene.isGone('a'));
    expect(scene.calls).to.include('r1 deleted a');
  });

  for (const kind of ['Plain', 'Bare'] as readonly GadgetKind[]) {
    const what = kind === 'Bare' ? 'no status' : 'no conditions';
    it(`the framework reports a pause only by Events when the kind has ${what}, and does not try to write a condition again`, async () => {
      const scene = await open();
      await scene.create('a', { metadata: { annotations: { [paused]: 'true' } } }, kind);
      scene.run({ type: typeOf(kind) });
      await scene.until(() => scene.events.length > 0);
      await scene.requests();
      await scene.annotate('a', { touched: 'yes' }, kind);
      await scene.calm();
      expect(await scene.requests()).to.deep.equal([]);
      await scene.annotate('a', { [paused]: null }, kind);
      await scene.until(() => scene.calls.includes('r1 created a'));
      expect(scene.events.map(({ reason }) => reason)).to.deep.equal(['Paused', 'Resumed']);
    });
  }

  it('the framework keeps the condition Paused that another operator has written', async () => {
    const scene = await open();
    const annotations = { 'cluster.x-k8s.io/paused': 'true' };
    const { metadata } = await scene.create('a', { metadata: { annotations } });
    const lastTransitionTime = metadata.creationTimestamp;
    const theirs = { type: 'Paused', status: 'True', reason: 'Paused', message: 'by hand' };
    const body = { status: { conditions: [{ ...theirs, lastTransitionTime }] } };
    const key = { namespace: scene.namespace, name: 'a' };
    const patch = { type: 'merge', body } as const;
    await scene.admin.patch(typeOf('Gadget'), key, patch, { subresource: 'status' });
    scene.run();
    await scene.create('b');
    await scene.until(() => scene.calls.includes('r1 created b'));
    await scene.annotate('a', { 'cluster.x-k8s.io/paused': null });
    await scene.until(() => scene.calls.includes('r1 created a'));
    await scene.calm();
    expect(await scene.condition('a', 'Paused')).to.deep.include(theirs);
  });

  it('the framework does not overwrite the condition Paused of another framework, which has other pause annotations, again and again', async () => {
    const scene = await open();
    const annotations = { 'example.com/one': 'yes', 'example.com/two': 'yes' };
    await scene.create('a', { metadata: { annotations } });
    scene.run({ name: 'one', pauseAnnotations: { 'example.com/one': 'yes' } });
    scene.run({ name: 'two', pauseAnnotations: { 'example.com/two': 'yes' } });
    await scene.until(async () => (await scene.condition('a', 'Paused'))?.status === 'True');
    await scene.calm();
    const { resourceVersion } = (await scene.get('a')).metadata;
    await scene.pass(1_000);
    expect((await scene.get('a')).metadata.resourceVersion).to.equal(resourceVersion);
    expect(scene.events.filter(({ reason }) => reason === 'Paused')).to.have.length(1);
    const said = (await scene.condition('a', 'Paused'))?.message ?? '';
    const first = said.includes('one') ? 'one' : 'two';
    const other = first === 'one' ? 'two' : 'one';
    await scene.annotate('a', { [`example.com/${first}`]: null });
    await scene.until(async () => (await scene.condition('a', 'Paused'))?.message.includes(other));
    await scene.calm();
    expect((await scene.condition('a', 'Paused'))?.status).to.equal('True');
    await scene.annotate('a', { [`example.com/${other}`]: null });
    await scene.until(async () => (await scene.condition('a', 'Paused'))?.status === 'False');
    await scene.until(() => finalizersIncludeBoth(scene.get('a')));
  });
}

async function finalizersIncludeBoth(object: ReturnType<Awaited<ReturnType<OpenScene>>['get']>) {
  const names = finalizersOf(await object);
  return ['one', 'two'].every((name) => names.includes(`operator-builder.io/${name}`));
}
