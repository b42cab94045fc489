// Loaded before the server: it would listen on every address of the machine, and for a test that must be the loopback
// one. With port 0 it is a free port, which is printed.
const net = require("node:net");
const listen = net.Server.prototype.listen;
net.Server.prototype.listen = function (port, ...rest) {
  this.once("listening", () => console.log(`loopback port ${this.address().port}`));
  return listen.call(this, { port: Number(port), host: "127.0.0.1" }, ...rest);
};
