/** The styles of a controller. */
export const styles = ['builder', 'resources', 'lifecycle'] as const;

/** One of {@link styles}. */
export type Style = (typeof styles)[number];
