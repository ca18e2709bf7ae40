import { Agent, request } from 'undici';
import { flowControlSuite } from '../apiserver/flow-control/suite.js';
import { sharedControlPlane } from './control-plane/shared.js';

flowControlSuite('a real API server', async () => {
  const { url, token, caData } = await sharedControlPlane();
  const ca = Buffer.from(caData, 'base64').toString();
  const dispatcher = new Agent({ connect: { ca } });
  return {
    send: async ({ method = 'GET', path, body, as = [] }) => {
      const [user, ...groups] = as;
      const answer = await request(url + path, {
        ...{ method: method as 'GET', dispatcher },
        headers: {
          ...{ authorization: `Bearer ${token}`, 'content-type': 'application/json' },
          ...(user !== undefined && { 'impersonate-user': user }),
          ...(groups.length > 0 && { 'impersonate-group': groups }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const { statusCode: status, headers } = answer;
      return { status, headers, text: await answer.body.text() };
    },
    stop: () => dispatcher.close(),
  };
});
