import { expect } from 'chai';
import { EmbeddedCluster } from '../../../lib/apiserver/index.js';
import { pod } from '../controllers/workload-objects.js';

describe('logs of simulated pods', () => {
  let cluster: EmbeddedCluster;

  before(async () => {
    cluster = await EmbeddedCluster.start({ port: 0, simulateWorkloads: true });
    const annotations = { 'operator-builder.io/pod-log': 'one\ntwo\nthree' };
    const both = ['a', 'b'].map((name) => ({ name, image: 'web:1' }));
    const client = cluster.client();
    await client.create(pod('web', {}, { annotations }));
    await client.create(pod('quiet'));
    await client.create(pod('pair', { containers: both }, { annotations }));
    await cluster.settled();
  });

  after(() => cluster.stop());

  async function read(path: string, method = 'GET') {
    const answer = await fetch(`${cluster.url}/api/v1/namespaces/default/pods/${path}`, { method });
    return [answer.status, await answer.text()] as const;
  }

  it('are the text of an annotation, whole or its last lines', async () => {
    expect(await read('web/log')).to.deep.equal([200, 'one\ntwo\nthree\n']);
    expect(await read('web/log?tailLines=2')).to.deep.equal([200, 'two\nthree\n']);
    expect(await read('web/log?tailLines=0')).to.deep.equal([200, '']);
    expect(await read('quiet/log')).to.deep.equal([200, '']);
    expect(await read('pair/log?container=b')).to.deep.equal([200, 'one\ntwo\nthree\n']);
  });

  it('need the name of one of several containers', async () => {
    const [status, text] = await read('pair/log');
    expect(status).to.equal(400);
    expect(text).to.include('choose one of: [a b]');
    expect((await read('pair/log?container=c'))[1]).to.include('container c is not valid');
    expect((await read('none/log'))[0]).to.equal(404);
  });

  for (const subresource of ['exec', 'attach', 'portforward']) {
    it(`do not need ${subresource}, which gets 405 with the reason`, async () => {
      const [status, text] = await read(`web/${subresource}?command=ls`, 'POST');
      expect(status).to.equal(405);
      expect(text).to.include(`pods/${subresource}: this server simulates pods`);
    });
  }
});
