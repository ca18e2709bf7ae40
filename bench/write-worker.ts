// Measures server-side applies of one client: `write-worker.ts <ours|theirs|http> APPLIES`, with the kubeconfig
// in BENCH_KUBECONFIG. For each line on stdin, prints the CPU time of an apply in microseconds.
import { createInterface } from 'node:readline';
import { KubeConfig, KubernetesObjectApi, PatchStrategy } from '@kubernetes/client-node';
import { Agent, request } from 'undici';
import { clientFromKubeConfig } from './built.js';

const [side = '', count = '500'] = process.argv.slice(2);
const applies = Number(count);
const namespace = `write-${process.pid}`;
const text = process.env['BENCH_KUBECONFIG'] ?? '';
const concurrency = 8;

type Apply = (object: ReturnType<typeof configMap>) => Promise<unknown>;

function configMap(name: string, round: number) {
  const data = { round: `${round}`, text: 'x'.repeat(400) };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data };
}

async function applyOf(): Promise<Apply> {
  if (side === 'ours') {
    const client = await clientFromKubeConfig({ text });
    return (object) => client.apply(object, { fieldManager: 'bench', force: true });
  }
  const kubeConfig = new KubeConfig();
  kubeConfig.loadFromString(text);
  if (side === 'theirs') {
    const api = KubernetesObjectApi.makeApiClient(kubeConfig);
    const { ServerSideApply } = PatchStrategy;
    return (object) => api.patch(object, undefined, undefined, 'bench', true, ServerSideApply);
  }
  const server = kubeConfig.getCurrentCluster()?.server ?? '';
  const dispatcher = new Agent();
  const headers = { 'content-type': 'application/apply-patch+yaml', accept: 'application/json' };
  return async (object) => {
    const path = `/api/v1/namespaces/${namespace}/configmaps/${object.metadata.name}`;
    const url = `${server}${path}?fieldManager=bench&force=true`;
    const body = JSON.stringify(object);
    const answer = await request(url, { method: 'PATCH', dispatcher, headers, body });
    return answer.body.json();
  };
}

const admin = await clientFromKubeConfig({ text });
await admin.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
const apply = await applyOf();
/** Applies each ConfigMap once. @returns the CPU time of one apply in microseconds */
async function measure(round: number): Promise<number> {
  const since = process.cpuUsage();
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < applies) await apply(configMap(`c-${next++}`, round));
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  const { user, system } = process.cpuUsage(since);
  return (user + system) / applies;
}

// Warms up.
await measure(0);
const commands = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
for (let round = 1; (await commands.next()).done !== true; round++) {
  console.log(JSON.stringify({ cpuUs: await measure(round) }));
}
await admin.close();
process.exit(0);
