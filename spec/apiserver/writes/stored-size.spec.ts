import { expect } from 'chai';
import { Api, apply, configMaps, deployment, deployments, merge } from '../api.js';
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

  it('are measured as etcd stores them, which is in protobuf for built-in kinds', async () => {
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

  it('are also refused if many small patches have made them large', async () => {
    const api = new Api();
    await installed(api);
    await api.create(widgets, widget('a', text(1)));
    const codes: number[] = [];
    for (let part = 0; part < 8; part++) {
      const grown = { spec: { free: { [`part${part}`]: 'x'.repeat(200_000) } } };
      codes.push((await api.call('PATCH', `${widgets}/a`, grown, merge)).code);
    }
    expect(codes).to.deep.equal([200, 200, 200, 200, 200, 200, 200, 500]);
  });

  it('are stored without managedFields if that makes them small enough, except by an apply', async () => {
    const api = new Api();
    const data = Object.fromEntries(
      Array.from({ length: 50_000 }, (_, index) => [`key-${index}`, 'x']),
    );
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data };
    const applied = await api.call('PATCH', `${configMaps}/a?fieldManager=m`, body, apply);
    expect([applied.code, applied.body.message]).to.deep.equal([
      500,
      'etcdserver: request is too large',
    ]);
    expect(await api.create(configMaps, body)).not.to.have.nested.property(
      'metadata.managedFields',
    );
  });
});
