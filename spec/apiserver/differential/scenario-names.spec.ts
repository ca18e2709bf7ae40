import { expect } from 'chai';
import { get } from './scenario.js';
import { ScenarioNames, versionsInPlace } from './scenario-names.js';

const maps = '/api/v1/namespaces/a/configmaps';

describe('the names that replace resource versions, UIDs and times in the recorded answers', () => {
  it('are equal for equal values, and show which of two versions is older', () => {
    const names = new ScenarioNames();
    names.next(get(`${maps}/a`));
    expect([names.version('7'), names.uid('u')]).to.deep.equal(['VERSION-1.1', 'UID-1.2']);
    names.next(get(`${maps}/a`));
    expect([names.version('7'), names.version('9'), names.version('8')]).to.deep.equal([
      ...['VERSION-1.1', 'VERSION-2.1', 'VERSION-2.2 before VERSION-2.1'],
    ]);
    expect([names.version('8'), names.uid('u'), names.version('')]).to.deep.equal([
      ...['VERSION-2.2', 'UID-1.2', ''],
    ]);
  });

  it('are the same for all versions of a definition, which the real server also writes in the background', () => {
    const names = new ScenarioNames();
    const own = names.next(get('/apis/apiextensions.k8s.io/v1/customresourcedefinitions/a'));
    expect([own.version('7'), own.version('8')]).to.deep.equal(['VERSION', 'VERSION']);
  });

  it('replace a time during the run, but not a time long before it', () => {
    const names = new ScenarioNames();
    expect(names.time('2020-01-01T00:00:00Z')).to.equal('2020-01-01T00:00:00Z');
    expect(names.time(new Date().toISOString())).to.equal('TIME');
  });

  it('show whether the version of a list is the newest, an earlier, the requested or another version', () => {
    const names = new ScenarioNames();
    names.version('7');
    const list = (resourceVersion: string, query = '') =>
      versionsInPlace({ metadata: { resourceVersion }, items: [] }, get(maps + query), names);
    const named = (name: string) => ({ metadata: { resourceVersion: name }, items: [] });
    expect(list('8')).to.deep.equal(named('STORE-VERSION'));
    expect(list('6')).to.deep.equal(named('EARLIER-VERSION'));
    const exact = '?resourceVersionMatch=Exact&resourceVersion=6';
    expect(list('6', exact)).to.deep.equal(named('REQUESTED-VERSION'));
    expect(list('7', exact)).to.deep.equal(named('OTHER-VERSION'));
  });

  it('show where the next page of a list begins', () => {
    const token = { v: 'meta.k8s.io/v1', rv: 8, start: '/b\u0000' };
    const metadata = {
      resourceVersion: '8',
      continue: Buffer.from(JSON.stringify(token)).toString('base64url'),
    };
    const page = versionsInPlace({ metadata, items: [] }, get(maps), new ScenarioNames());
    expect(page).to.have.nested.property('metadata.continue', 'from /b\u0000 at the same version');
  });

  it('show a bookmark that is older than the events before it', () => {
    const event = (type: string, resourceVersion: string) => ({
      ...{ type, object: { metadata: { resourceVersion } } },
    });
    const versions = (...list: readonly string[]) => {
      const events = [event('ADDED', '7'), ...list.map((version) => event('BOOKMARK', version))];
      return versionsInPlace(events, get(`${maps}?watch=true`), new ScenarioNames());
    };
    expect(versions('8', '6')).to.deep.equal([
      event('ADDED', '7'),
      event('BOOKMARK', 'STORE-VERSION'),
      event('BOOKMARK', 'EARLIER-VERSION'),
    ]);
  });

  it('mark a deletionTimestamp that is earlier than the grace period allows', () => {
    const object = (deletionTimestamp: string) => ({
      metadata: {
        ...{ creationTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 30 },
        deletionTimestamp,
      },
    });
    const shown = (time: string) =>
      versionsInPlace(object(time), get(`${maps}/a`), new ScenarioNames());
    expect(shown('2026-01-01T00:00:30Z')).to.deep.equal(object('2026-01-01T00:00:30Z'));
    expect(shown('2026-01-01T00:00:29Z')).to.deep.equal(object('EARLY'));
  });
});
