import { expect } from 'chai';
import { EmbeddedCluster } from '../../../lib/apiserver/index.js';
import type { Status } from '../../../lib/object/index.js';
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
    const initContainers = [{ name: 'first', image: 'web:1' }];
    await client.create(pod('pair', { containers: both, initContainers }, { annotations }));
    await client.create(pod('beside', { initContainers }, { annotations }));
    await client.create(pod('gated', { schedulingGates: [{ name: 'a.b/c' }] }, { annotations }));
    for (const name of ['broken', 'crashing']) {
      const containers = [{ name: 'main', image: `web:${name}` }];
      await client.create(pod(name, { containers }, { annotations }));
    }
    await cluster.settled();
  });

  after(() => cluster.stop());

  async function read(path: string, method = 'GET') {
    const answer = await fetch(`${cluster.url}/api/v1/namespaces/default/pods/${path}`, { method });
    return [answer.status, await answer.text()] as const;
  }

  it('are the text of an annotation, or its last lines with tailLines', async () => {
    expect(await read('web/log')).to.deep.equal([200, 'one\ntwo\nthree\n']);
    expect(await read('web/log?tailLines=2')).to.deep.equal([200, 'two\nthree\n']);
    expect(await read('web/log?tailLines=0')).to.deep.equal([200, '']);
    expect(await read('quiet/log')).to.deep.equal([200, '']);
    expect(await read('pair/log?container=b')).to.deep.equal([200, 'one\ntwo\nthree\n']);
  });

  it('end after limitBytes', async () => {
    expect(await read('web/log?limitBytes=5')).to.deep.equal([200, 'one\nt']);
    expect(await read('web/log?tailLines=1&limitBytes=99')).to.deep.equal([200, 'three\n']);
  });

  for (const [query, message] of [
    ['tailLines=-1', 'tailLines: Invalid value: -1: must be greater than or equal to 0'],
    ['limitBytes=0', 'limitBytes: Invalid value: 0: must be greater than 0'],
    ['sinceSeconds=0', 'sinceSeconds: Invalid value: 0: must be greater than 0'],
    [
      'sinceSeconds=0&sinceTime=2026-01-01T00:00:00Z',
      '[]: Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified',
    ],
    ['stream=Stdout', 'stream: Forbidden: may not be specified'],
  ]) {
    it(`refuse ${query}, even for a missing pod`, async () => {
      for (const name of ['web', 'none']) {
        const [status, text] = await read(`${name}/log?${query}`);
        expect(status).to.equal(422);
        expect((JSON.parse(text) as Status).message).to.equal(
          `PodLogOptions "${name}" is invalid: ${message}`,
        );
      }
    });
  }

  it('answer 400 if tailLines is not a number', async () => {
    const [status, text] = await read('web/log?tailLines=all');
    expect(status).to.equal(400);
    expect((JSON.parse(text) as Status).message).to.include('parsing "all": invalid syntax');
  });

  it('are those of the only container if the others are init containers', async () => {
    expect(await read('beside/log')).to.deep.equal([200, 'one\ntwo\nthree\n']);
  });

  it('have no content before the pod has a node', async () => {
    const answer = await fetch(`${cluster.url}/api/v1/namespaces/default/pods/gated/log`);
    expect([answer.status, await answer.text()]).to.deep.equal([204, '']);
    expect(answer.headers.has('content-length')).to.equal(false);
  });

  it('are refused until the container has started', async () => {
    const [status, text] = await read('broken/log');
    expect(status).to.equal(400);
    expect((JSON.parse(text) as Status).message).to.equal(
      'container "main" in pod "broken" is waiting to start: trying and failing to pull image',
    );
    expect(await read('crashing/log')).to.deep.equal([200, 'one\ntwo\nthree\n']);
  });

  it('are refused for the previous run of a container that never restarted', async () => {
    const [status, text] = await read('web/log?previous=true');
    expect(status).to.equal(400);
    const container = /previous terminated container ".*" in pod "web" not found/;
    expect((JSON.parse(text) as Status).message).to.match(container);
    expect((await read('crashing/log?previous=true'))[0]).to.equal(200);
  });

  it('require the name of a container if the pod has several', async () => {
    const [status, text] = await read('pair/log');
    expect(status).to.equal(400);
    expect(text).to.include('choose one of: [first a b]');
    expect((await read('pair/log?container=c'))[1]).to.include('container c is not valid');
    expect((await read('none/log'))[0]).to.equal(404);
  });

  for (const subresource of ['exec', 'attach', 'portforward']) {
    it(`are served, but ${subresource} is answered 405 with the reason`, async () => {
      const [status, text] = await read(`web/${subresource}?command=ls`, 'POST');
      expect(status).to.equal(405);
      expect(text).to.include(`pods/${subresource}: this server simulates pods`);
    });
  }
});
