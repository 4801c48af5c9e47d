export const target: string;
export function pageScript(): Promise<string>;
