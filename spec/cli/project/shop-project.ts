import { join } from 'node:path';
import { projectCopy } from './project-copy.js';

/** A project whose operator creates a Deployment and a ConfigMap for each Shop. */
export const shopProject = projectCopy(join(import.meta.dirname, 'shop'));

/** Returns the code of `src/shop.ts` with one more version, which functions convert. */
export function convertedShop(code: string): string {
  const further = "    },\n    { name: 'v1beta1', schema: s.object({ spec }) },\n  ],";
  const functions = '{ toHub: (object) => object, fromHub: (object) => object }';
  const conversion = `\n  conversion: { hub: 'v1', spokes: { v1beta1: ${functions} } },`;
  return code
    .replace("name: 'v1',", "name: 'v1',\n      storage: true,")
    .replace('    },\n  ],', further + conversion);
}

/** A project whose operator rolls out several workloads in order, and makes Barns of Farms. */
export const farmProject = join(import.meta.dirname, 'farm');
