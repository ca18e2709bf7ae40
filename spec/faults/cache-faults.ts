import { expect } from 'chai';
import { ConfigMap } from '../../lib/object/kinds.js';
import { isOperatorError } from '../../lib/system/operator-error.js';
import { CacheSetup } from './cache-setup.js';
import { expiredStream, refusal } from './fault-proxy.js';
import type { FaultTarget } from './fault-target.js';
import { sampleOf } from '../sample.js';

/**
 * Defines the behaviour of a cache behind a faulty network: after each fault it shows the objects
 * of the server, its events are consistent, and no event is repeated.
 */
export function cacheFaults(newTarget: () => Promise<FaultTarget>): void {
  let target: FaultTarget;

  before(async () => {
    target = await newTarget();
  });

  after(() => target.close());

  for (const streaming of sampleOf([true, false], 1)) {
    describe(streaming ? 'with streaming lists' : 'with paged lists', () => {
      let setup: CacheSetup;

      beforeEach(async () => {
        setup = await CacheSetup.start(target, streaming);
      });

      afterEach(() => setup.stop());

      for (const point of ['line', 'chunkHeader'] as const) {
        it(`the cache resumes its watches after the connection was reset within ${point === 'line' ? 'an event' : 'the header of a chunk'}`, async () => {
          for (let round = 0; round < 3; round++) {
            setup.proxy.cutWatches(point);
            await setup.churn();
            await setup.followed();
          }
          // The watch resumed at its version: no event was lost, and no list was needed.
          expect(setup.relists).to.equal(1);
          expect(setup.mirror.events.filter(({ type }) => type === 'updated')).to.have.length(6);
          expect(setup.mirror.deletionsSince(0).every(([, unknown]) => !unknown)).to.equal(true);
        });
      }

      it('the cache resumes its watches after connections that stayed open without data', async () => {
        setup.proxy.fallSilent();
        await setup.churn();
        setup.proxy.speak();
        await setup.put('d');
        await setup.followed();
        expect(setup.relists).to.equal(1);
      });

      it('the cache resumes its watches after a server that accepted connections without responding', async () => {
        setup.proxy.reset();
        setup.proxy.fallSilent();
        await setup.churn();
        await setup.until(() => isOperatorError(setup.informer.status().problem, 'Timeout'));
        setup.proxy.speak();
        await setup.followed();
      });

      it('the cache resumes its watches after refused connections', async () => {
        await setup.proxy.refuse();
        await setup.churn();
        await setup.until(() => setup.informer.status().problem !== undefined);
        await setup.proxy.accept();
        await setup.followed();
      });

      it('the cache stays up to date although the data arrives a few bytes at a time', async () => {
        setup.proxy.trickle(7);
        setup.proxy.reset();
        await setup.churn();
        await setup.followed();
        await setup.churn();
        await setup.followed();
      });

      for (const [title, answer] of [
        ['429 with Retry-After', refusal(429, 'TooManyRequests', ['retry-after: 1'])],
        ['429', refusal(429, 'TooManyRequests')],
        ['500', refusal(500, 'InternalError')],
        ['503 in HTML', 'HTTP/1.1 503 No\r\ncontent-length: 6\r\n\r\n<html>'],
      ] as const) {
        it(`the cache resumes its watches after responses of ${title}`, async () => {
          let answers = 0;
          setup.proxy.answer = (line) =>
            line.includes('/configmaps') && answers++ < 4 ? answer : undefined;
          setup.proxy.reset();
          await setup.churn();
          await setup.until(() => answers >= 4);
          await setup.followed();
        });
      }

      it('the cache lists the objects again when the resourceVersion of its watch is too old for the server', async () => {
        const mark = setup.mirror.events.length;
        await setup.proxy.refuse();
        await setup.remove('a');
        await setup.remove('b');
        await setup.put('b');
        await setup.put('c');
        await target.forget();
        await setup.proxy.accept();
        await setup.followed();
        expect(setup.relists).to.be.at.least(2);
        // The relist discovered both deletions; `b` exists again as another object.
        expect([...setup.mirror.deletionsSince(mark)].sort()).to.deep.equal([
          ['a', true],
          ['b', true],
        ]);
      });

      it('the cache lists the objects again when a watch stream reports that its resourceVersion is too old', async () => {
        let answers = 0;
        setup.proxy.answer = (line) =>
          line.includes('watch=true') && !line.includes('sendInitialEvents') && answers++ < 2
            ? expiredStream()
            : undefined;
        setup.proxy.reset();
        await setup.churn();
        await setup.until(() => answers >= 2);
        await setup.followed();
        expect(setup.relists).to.be.at.least(2);
      });

      it('the cache resumes a watch from a bookmark if no other event came', async () => {
        const other = await target.namespace();
        const data = { a: 'b' };
        const metadata = { name: 'elsewhere', namespace: other };
        await target.admin.create<ConfigMap>({
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata,
          data,
        });
        const { metadata: list } = await target.admin.list(ConfigMap, { namespace: other });
        const resourceVersion = list.resourceVersion ?? '';
        const object = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { resourceVersion } };
        const told = setup.mirror.events.length;
        // A watch that has only just been requested gets nothing yet, and a reset loses unread
        // bytes. So inject until the cache has the bookmark.
        await setup.until(() => {
          setup.proxy.inject({ type: 'BOOKMARK', object });
          return setup.progress === resourceVersion;
        });
        // Requests are recorded only from now on, because the open watch may have been requested just before.
        const lines: string[] = [];
        setup.proxy.answer = (line) => {
          lines.push(line);
          return undefined;
        };
        setup.proxy.cutWatches('line');
        await setup.put('a');
        await setup.until(() => lines.some((line) => line.includes('watch=true')));
        await setup.followed();
        // The server may have sent a later bookmark of its own.
        const resumed = lines.find((line) => line.includes('watch=true')) ?? '';
        const [, from] = /[?&]resourceVersion=(\d+)/.exec(resumed) ?? [];
        expect(Number(from), resumed).to.be.at.least(Number(resourceVersion));
        expect(setup.mirror.events.length - told).to.equal(1);
        expect(setup.relists).to.equal(1);
      });
    });
  }
}
