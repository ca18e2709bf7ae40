import { expect } from 'chai';
import { Cache } from '../../lib/cache/index.js';
import { ConfigMap } from '../../lib/object/index.js';
import { VirtualClock } from '../../lib/system/virtual-clock.js';
import { refusal, scripted } from '../client/scripted-transport.js';
import type { ScriptedAnswer } from '../client/scripted-transport.js';

const configMap = {
  ...{ apiVersion: 'v1', kind: 'ConfigMap' },
  metadata: { name: 'a', namespace: 'ns', uid: 'u', resourceVersion: '5' },
};
const metadata = { resourceVersion: '9' };
const expired = { type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired' } };
const { json: unavailable } = refusal(503, 'ServiceUnavailable');

describe('a cache whose server answers its second list with status 200', () => {
  const answers: readonly (readonly [string, unknown, string])[] = [
    ['and the Status of a failure', unavailable, '503 ServiceUnavailable'],
    ['and an object that is not a list', { kind: 'Whatever', metadata: {} }, 'malformed answer'],
  ];
  for (const [title, json, problem] of answers) {
    it(`${title} keeps its objects and reports a problem`, async () => {
      const clock = new VirtualClock();
      const good = { kind: 'ConfigMapList', apiVersion: 'v1', metadata, items: [configMap] };
      let lists = 0;
      const { client } = scripted(({ path }): ScriptedAnswer => {
        if (path.includes('watch=')) return { chunks: [JSON.stringify(expired)] };
        return { json: ++lists === 1 ? good : json };
      });
      const cache = new Cache({ client, clock, streamingLists: false });
      const informer = cache.informer(ConfigMap);
      const events: string[] = [];
      informer.addHandler(({ type }) => events.push(type));
      cache.start();
      await clock.advance(10_000);
      expect(lists).to.be.greaterThan(1);
      expect(events).to.deep.equal(['added']);
      expect(informer.list()).to.have.length(1);
      expect(String(cache.status()[0]?.problem)).to.contain(problem);
      await cache.stop();
    });
  }
});
