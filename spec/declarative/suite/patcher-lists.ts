import { expect } from 'chai';
import { Deployment, Service } from '../../../lib/object/kinds.js';
import { Gadget, Widget } from './target-scene.js';
import type { OpenTargetScene } from './target-scene.js';
import { deployment } from './updater.js';

export function patcherListsSuite(open: OpenTargetScene): void {
  it('patched lists are merged by their keys', async () => {
    const scene = await open();
    await scene.create(Deployment, deployment());
    const patcher = scene.patcher(Deployment);
    const env = [{ name: 'LEVEL', value: 'debug' }];
    const spec = { containers: [{ name: 'main', env }] };
    await patcher.write({ spec: { template: { spec } } });
    const patched = (await scene.get(Deployment)) as Deployment;
    const [container] = patched.spec?.template.spec?.containers ?? [];
    expect(container).to.deep.include({ image: 'registry.example/main:1', env });
    await patcher.remove();
    const after = (await scene.get(Deployment)) as Deployment;
    const [left] = after.spec?.template.spec?.containers ?? [];
    expect(left).to.include({ name: 'main', image: 'registry.example/main:1' });
    expect(left?.env).to.equal(undefined);
  });

  it('patched lists get an added entry, and lose the entry when the patch is removed', async () => {
    const scene = await open();
    await scene.create(Service, { spec: { ports: [{ name: 'http', port: 80 }] } });
    const patcher = scene.patcher(Service);
    await patcher.write({ spec: { ports: [{ name: 'metrics', port: 9090 }] } });
    const { spec } = (await scene.get(Service)) as Service;
    expect(spec?.ports?.map(({ name }) => name)).to.have.members(['http', 'metrics']);
    await patcher.remove();
    const { spec: after } = (await scene.get(Service)) as Service;
    expect(after?.ports?.map(({ name }) => name)).to.deep.equal(['http']);
  });

  it('patched lists of a custom resource are merged as x-kubernetes-list-type in the schema says', async () => {
    const scene = await open();
    const parts = [{ name: 'a', weight: 2 }];
    await scene.create(Widget, { spec: { parts, tags: ['x', 'y'] } });
    const patcher = scene.patcher(Widget);
    const document = {
      spec: { parts: [{ name: 'a', note: 'n' }, { name: 'b' }], tags: ['y', 'z'] },
    };
    await patcher.write(document);
    expect((await scene.get(Widget))['spec']).to.deep.equal({
      size: 3,
      parts: [
        { name: 'a', weight: 2, note: 'n' },
        { name: 'b', weight: 1 },
      ],
      tags: ['x', 'y', 'z'],
    });
    await scene.writes();
    expect(await patcher.write(document)).to.equal('unchanged');
    expect(await scene.writes()).to.deep.equal([]);
    await patcher.write({ spec: { parts: [{ name: 'a', note: 'n' }] } });
    await patcher.remove();
    expect((await scene.get(Widget))['spec']).to.deep.equal({ size: 3, parts, tags: ['x', 'y'] });
  });

  it('patched lists are replaced completely if their entries have no keys', async () => {
    const scene = await open();
    await scene.create(Gadget, { spec: { list: [{ name: 'a' }, { name: 'b' }] } });
    const patcher = scene.patcher(Gadget);
    await patcher.write({ spec: { list: [{ name: 'c' }] } });
    expect((await scene.get(Gadget))['spec']).to.deep.equal({ list: [{ name: 'c' }] });
  });

  it('patched lists lose a field of an entry that the document no longer has, whether or not entries have keys', async () => {
    const scene = await open();
    const updater = scene.updater(Widget);
    const steps = [{ run: 'x', retries: 5 }];
    const parts = [{ name: 'a', note: 'n' }];
    await updater.write({ spec: { steps, parts } });
    await updater.write({ spec: { steps: [{ run: 'x' }], parts: [{ name: 'a' }] } });
    const { spec } = await scene.get(Widget);
    expect(spec).to.deep.include({ steps: [{ run: 'x', retries: 2 }] });
    expect(spec).to.deep.include({ parts: [{ name: 'a', weight: 1 }] });
  });

  it('patched lists are ordered as in the document', async () => {
    const scene = await open();
    const updater = scene.updater(Widget);
    const parts = [{ name: 'a' }, { name: 'b' }, { name: 'c' }];
    await updater.write({ spec: { parts } });
    expect(await updater.write({ spec: { parts: parts.toReversed() } })).to.equal('configured');
    const { spec } = await scene.get(Widget);
    expect((spec as { parts: { name: string }[] }).parts.map(({ name }) => name).join('')).to.equal(
      'cba',
    );
  });
}
