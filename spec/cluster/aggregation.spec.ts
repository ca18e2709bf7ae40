import { aggregationSuite } from '../apiserver/aggregation/suite.js';
import { sharedControlPlane } from './control-plane/shared.js';

aggregationSuite('a real API server', async () => {
  const { api } = await sharedControlPlane();
  return {
    send: async (step) => {
      const { status, text } = await api.send(step);
      return { status, text };
    },
    stop: async () => undefined,
  };
});
