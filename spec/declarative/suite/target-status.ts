import { expect } from 'chai';
import { Deployment } from '../../../lib/object/kinds.js';
import { Gadget, Widget } from './target-scene.js';
import type { OpenTargetScene } from './target-scene.js';
import { deployment } from './updater.js';

export function updaterStatusSuite(open: OpenTargetScene): void {
  for (const type of [Widget, Gadget]) {
    const where = type === Widget ? 'as a subresource' : 'as an ordinary field';

    it(`a status in a document is written, ${where}`, async () => {
      const scene = await open();
      const updater = scene.updater(type);
      const document = { spec: { size: 4 }, status: { phase: 'Ready', seen: 1 } };
      expect(await updater.write(document)).to.equal('created');
      expect(await scene.get(type)).to.deep.include(document);
      const next = { ...document, status: { phase: 'Gone' } };
      expect(await updater.write(next)).to.equal('configured');
      expect(await scene.get(type)).to.deep.include(next);
      await scene.writes();
      expect(await updater.write(next)).to.equal('unchanged');
      expect(await scene.updater(type).write(next)).to.equal('unchanged');
      expect(await scene.writes()).to.deep.equal([]);
    });

    it(`a status is removed when the document no longer has one, ${where}`, async () => {
      const scene = await open();
      await scene.updater(type).write({ spec: { size: 4 }, status: { phase: 'Ready' } });
      await scene.updater(type).write({ spec: { size: 4 } });
      expect((await scene.get(type))['status'] ?? {}).to.deep.equal({});
    });

    it(`a status is patched by a Patcher, which later removes its fields, ${where}`, async () => {
      const scene = await open();
      await scene.create(type, { spec: { size: 4 } });
      const other = type === Widget ? 'status' : undefined;
      await scene.edit(type, { status: { note: 'theirs' } }, other);
      const patcher = scene.patcher(type);
      await patcher.write({ status: { phase: 'Ready' } });
      const status = { note: 'theirs', phase: 'Ready' };
      expect(await scene.get(type)).to.deep.include({ spec: { size: 4 }, status });
      const keys = await patcher.writer.written(scene.context);
      expect(keys.map(({ namespace }) => namespace)).to.include(scene.namespace);
      await patcher.write({ status: { phase: 'Ready', note: null } });
      expect((await scene.get(type))['status']).to.deep.equal({ phase: 'Ready' });
      await patcher.remove();
      expect((await scene.get(type))['status'] ?? {}).to.deep.equal({});
    });

    it(`a status is replaced by an Updater whose document has a status, ${where}`, async () => {
      const scene = await open();
      const updater = scene.updater(type);
      await updater.write({ status: { phase: 'Ready' } });
      await scene.edit(type, { status: { note: 'x' } }, type === Widget ? 'status' : undefined);
      await updater.write({ status: { phase: 'Ready' } });
      expect((await scene.get(type))['status']).to.deep.equal({ phase: 'Ready' });
    });
  }

  it('a status is kept by an Updater whose document has no status', async () => {
    const scene = await open();
    const updater = scene.updater(Widget);
    await updater.write({ spec: { size: 4 } });
    await scene.edit(Widget, { status: { phase: 'Theirs' } }, 'status');
    expect(await updater.write({ spec: { size: 4 } })).to.equal('unchanged');
    expect((await scene.get(Widget))['status']).to.deep.equal({ phase: 'Theirs' });
  });

  it('a status gets additional conditions by a patch of a built-in kind', async () => {
    const scene = await open();
    await scene.create(Deployment, deployment({ paused: true }));
    const patcher = scene.patcher(Deployment);
    const condition = { type: 'shop.example.com/Checked', status: 'True' };
    await patcher.write({ status: { conditions: [condition] } });
    const conditions = async () => {
      const { status } = (await scene.get(Deployment)) as Deployment;
      return (status?.conditions ?? []).map(({ type }) => type);
    };
    expect(await conditions()).to.include(condition.type);
    await patcher.remove();
    expect(await conditions()).not.to.include(condition.type);
  });
}
