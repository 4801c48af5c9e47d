import * as z from 'zod/mini';
import { forecastSchema, remainderSchema } from '../../forecast/forecast.ts';

export const runForecast = z.object({
  ...forecastSchema.shape,
  rest: z.nullable(remainderSchema),
});

export type RunForecast = z.infer<typeof runForecast>;
