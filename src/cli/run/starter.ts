/** The channel between a background process and the command that started it. */
import { wrongUsage } from '../../options/wrong-usage.ts';
import { type BackgroundTask, type FirstWord, isBackgroundTask } from '../../world/background.ts';

/** If the starter ends before the run has begun, its user does not know of the run: it must not begin. */
export async function listenToStarter() {
  const send = process.send?.bind(process);
  if (!send)
    throw wrongUsage('This command is a part of --detach.', 'Start a run: raymond <workflow>');
  const end = () => process.exit(1);
  process.once('disconnect', end);
  const task = await new Promise<BackgroundTask>((resolve) => {
    process.on('message', (message) => {
      if (isBackgroundTask(message)) resolve(message);
    });
  });
  process.removeAllListeners('message');
  let isListening = true;
  return {
    task,
    isListening: () => isListening,
    /** Only the first word counts. */
    tell(word: FirstWord) {
      if (!isListening) return;
      isListening = false;
      process.off('disconnect', end);
      send(word, () => process.disconnect());
    },
  };
}
