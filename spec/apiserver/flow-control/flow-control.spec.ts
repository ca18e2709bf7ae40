import { expect } from 'chai';
import { EmbeddedApiServer } from '../../../lib/apiserver/internal.js';
import { flowControlSuite } from './suite.js';

const token = 'secret';

flowControlSuite('the embedded server', async () => {
  const users = { [token]: { name: 'admin', groups: ['system:masters'] } };
  const server = new EmbeddedApiServer({ users, rbac: true });
  const url = await server.listen();
  return { url, token, stop: () => server.stop() };
});

describe('a request of an unknown user', () => {
  it('is answered 401 without a FlowSchema', async () => {
    const server = new EmbeddedApiServer({ users: {}, rbac: true });
    const headers = { authorization: 'Bearer wrong' };
    const answer = await server.handle({ method: 'GET', path: '/api/v1/pods', headers });
    expect(answer.status).to.equal(401);
    expect(answer.headers).to.not.have.property('x-kubernetes-pf-flowschema-uid');
    await server.stop();
  });
});
