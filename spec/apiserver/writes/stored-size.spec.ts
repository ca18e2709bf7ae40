import { expect } from 'chai';
import { Api, deployment, deployments, merge } from '../api.js';
import { installed, widget, widgets } from '../custom/widgets.js';

const text = (length: number) => ({ free: { text: 'x'.repeat(length) } });

describe('objects that are too large for etcd', () => {
  it('are refused, as on a real server, except in a dry run', async () => {
    const api = new Api();
    await installed(api);
    const refused = [500, 'etcdserver: request is too large'];
    const large = text(1_580_000);
    const made = await api.call('POST', widgets, widget('a', large));
    expect([made.code, made.body.message]).to.deep.equal(refused);
    expect((await api.call('POST', `${widgets}?dryRun=All`, widget('a', large))).code).to.equal(
      201,
    );
    expect((await api.call('POST', widgets, widget('a', text(1_560_000)))).code).to.equal(201);
    const grown = { spec: { free: { more: 'x'.repeat(20_000) } } };
    const patched = await api.call('PATCH', `${widgets}/a`, grown, merge);
    expect([patched.code, patched.body.message]).to.deep.equal(refused);
    expect((await api.get(`${widgets}/a`)).body.metadata.generation).to.equal(1);
  });

  it('are measured as etcd gets them: built-in kinds in protobuf', async () => {
    const api = new Api();
    const created = async (length: number) => {
      const containers = [{ name: 'c', image: 'i', command: ['x'.repeat(length)] }];
      const template = { metadata: { labels: { app: 'd' } }, spec: { containers } };
      return api.call('POST', deployments, deployment('d', { template }));
    };
    expect((await created(1_700_000)).body.message).to.equal('etcdserver: request is too large');
    expect((await created(2_500_000)).body.message).to.match(/trying to send message larger/);
    expect((await created(1_500_000)).code).to.equal(201);
  });
});
