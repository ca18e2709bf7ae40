import { expect } from 'chai';
import { fenced } from '../../../lib/client/index.js';
import type { Builder } from '../../../lib/builder/index.js';
import type { Client, Fence } from '../../../lib/client/index.js';
import { ConfigMap, Deployment } from '../../../lib/object/kinds.js';
import { OperatorError } from '../../../lib/system/operator-error.js';
import { HeldWrites } from '../../client/held-writes.js';
import type { OpenScene } from './builder-suite.js';
import { errorsOf } from './immutable.js';

/** A leader whose request is held back: after the check that it still leads, before the request is sent. */
class FormerLeader {
  readonly client: Client;
  readonly held: HeldWrites;
  #isLeading = true;

  constructor(client: Client, verb: 'apply' | 'delete') {
    const fence: Fence = {
      check: (what) => {
        if (!this.#isLeading) throw new OperatorError('Fenced', `${what}: not sent`);
      },
    };
    this.held = new HeldWrites(client, verb);
    this.client = fenced(this.held.client, fence);
  }

  /** Ends the term of this leader, runs `next` as the new leader, then sends the held request. */
  async overtakenBy(next: () => Promise<unknown>): Promise<void> {
    await this.held.whenHeld;
    this.#isLeading = false;
    await next();
    this.held.letGo();
  }
}

/** Specs about writes of a former leader that arrive after those of the new one. */
export function lateWritesSuite(open: OpenScene): void {
  const settings = (value: string) => ({ name: 'settings', data: { VALUE: value } });

  /** Starts `late` as the former leader. Its write arrives after those of `next`, which the present leader makes. */
  async function play(
    { client, verb }: { readonly client: Client; readonly verb: 'apply' | 'delete' },
    late: (client: Client) => Builder,
    next: () => Promise<unknown>,
  ): Promise<readonly OperatorError[]> {
    const former = new FormerLeader(client, verb);
    const failing = errorsOf(late(former.client));
    await former.overtakenBy(next);
    return failing;
  }

  const overtaken: readonly [string, boolean][] = [
    ['was changed, and the write of the new leader stays', true],
    ['was created by the new leader', false],
  ];
  for (const [what, exists] of overtaken) {
    it(`late writes of a former leader are refused if the object ${what}`, async () => {
      const scene = await open();
      if (exists) await scene.builder().configMap(settings('0')).reconcile();
      const errors = await play(
        { ...scene.operator, verb: 'apply' },
        (client) => scene.builder({ client }).configMap(settings('former')),
        () => scene.builder().configMap(settings('new')).reconcile(),
      );
      expect(errors.map(({ code }) => code)).to.deep.equal(['Fenced']);
      expect((await scene.get(ConfigMap, 'settings')).data).to.deep.equal({ VALUE: 'new' });
    });
  }

  it('late writes of a former leader are refused if the object was to be pruned and is desired again', async () => {
    const scene = await open();
    const both = (): Builder =>
      scene
        .builder()
        .configMap(settings('0'))
        .configMap({ name: 'extra', data: { A: '0' } });
    await both().reconcile();
    const errors = await play(
      { ...scene.operator, verb: 'delete' },
      (client) => scene.builder({ client }).configMap(settings('0')),
      () =>
        scene
          .builder()
          .configMap(settings('0'))
          .configMap({ name: 'extra', data: { A: '1' } })
          .reconcile(),
    );
    expect(errors.map(({ code }) => code)).to.deep.equal(['Fenced']);
    expect((await scene.get(ConfigMap, 'extra')).data).to.deep.equal({ A: '1' });
  });

  it('late writes of a former leader are refused if they would recreate the object', async () => {
    const scene = await open();
    const web = (app: string, image = 'registry.example/web:1') => ({
      ...{ name: 'web', replicas: 0, selector: { app } },
      podSpec: { containers: [{ name: 'web', image }] },
    });
    await scene.builder().deployment(web('old')).reconcile();
    const { metadata: before } = await scene.get(Deployment, 'web');
    const errors = await play(
      { ...scene.operator, verb: 'delete' },
      (client) => scene.builder({ client, onImmutable: 'recreate' }).deployment(web('new')),
      () => scene.builder().deployment(web('old', 'registry.example/web:2')).reconcile(),
    );
    expect(errors.map(({ code }) => code)).to.deep.equal(['Fenced']);
    expect((await scene.get(Deployment, 'web')).metadata.uid).to.equal(before.uid);
  });
}
