/** Starts `raymond lsp` for the workflows of a window. Everything else is in the language server. */
import { commands, type ExtensionContext, window, workspace } from 'vscode';
import { LanguageClient, type LanguageClientOptions } from 'vscode-languageclient/node';

const DOCUMENTS: LanguageClientOptions = {
  documentSelector: ['md', 'sh', 'ps1', 'bat', 'yaml', 'yml'].map((extension) => ({
    scheme: 'file',
    pattern: `**/*.${extension}`,
  })),
};

let client: LanguageClient | undefined;

export async function activate(context: ExtensionContext): Promise<void> {
  context.subscriptions.push(commands.registerCommand('raymond.restart', restart));
  await start();
}

export async function deactivate(): Promise<void> {
  const running = client;
  client = undefined;
  await running?.stop();
}

async function restart(): Promise<void> {
  await deactivate();
  await start();
}

async function start(): Promise<void> {
  const [command = 'raymond', ...args] = workspace
    .getConfiguration('raymond')
    .get<readonly string[]>('command', []);
  const server = { command, args: [...args, 'lsp'] };
  client = new LanguageClient('raymond', 'Raymond', server, DOCUMENTS);
  try {
    await client.start();
  } catch {
    client = undefined;
    void window.showErrorMessage(
      `${command} could not be started. Install Raymond, or name the program in the setting raymond.command.`,
    );
  }
}
