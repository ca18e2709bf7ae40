import { Agent } from 'undici';
import { flowControlSuite } from '../apiserver/flow-control/suite.js';
import { sharedControlPlane } from './control-plane/shared.js';

flowControlSuite('a real API server', async () => {
  const { url, token, caData } = await sharedControlPlane();
  const ca = Buffer.from(caData, 'base64').toString();
  const dispatcher = new Agent({ connect: { ca } });
  return { url, token, dispatcher, stop: () => dispatcher.close() };
});
