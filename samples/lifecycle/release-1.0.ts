import { ResourceBuilder } from 'operator-builder/lifecycle';
import { endpointLabel, identity, nodePort, page, server, serverName } from './http-server.js';
import type { Release } from './release.js';

/** Labels of every object of the releases 1.x, and the selector of their Deployment. */
export const labels1x = { app: serverName };

/** The first release. */
export const release10: Release = {
  version: '1.0.0',
  objects: (deploying) => {
    const builder = new ResourceBuilder({ commonLabels: labels1x });
    return [
      ...identity(builder, deploying),
      page(builder, deploying),
      server(builder, deploying, {
        ...{ name: serverName, image: 'nginx:1.27', matchLabels: labels1x },
      }),
      nodePort(builder, deploying),
      builder.service({
        ...{ name: 'http-server-internal', namespace: deploying.namespace },
        matchLabels: endpointLabel,
        spec: { ports: [{ name: 'http', port: 80, targetPort: 'http' }] },
      }),
    ];
  },
};
