const labels = { app: 'web' };

const template = {
  metadata: { labels },
  spec: { containers: [{ name: 'web', image: 'web:1' }] },
};

/** Returns a Deployment `web` with replicas. */
export function deployment(replicas: number): object {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web' },
    spec: { replicas, selector: { matchLabels: labels }, template },
  };
}

/** Returns a StatefulSet `web` with replicas, each with a claim `data-web-<ordinal>`. */
export function statefulSet(replicas: number): object {
  const claim = {
    metadata: { name: 'data' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  };
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'web' },
    spec: {
      replicas,
      serviceName: 'web',
      selector: { matchLabels: labels },
      template,
      volumeClaimTemplates: [claim],
    },
  };
}
